/** The part of node:crypto that the examples use. For all of it, plugin authors install @types/node. */
interface Hmac {
  update(data: string): Hmac;
  digest(encoding: 'hex'): string;
}
export function createHmac(algorithm: string, key: string): Hmac;
export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean;
