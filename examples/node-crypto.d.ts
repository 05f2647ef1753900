/** What the examples use of node:crypto; authors install @types/node for all of it. */
interface Hmac {
  update(data: string): Hmac;
  digest(encoding: 'hex'): string;
}
export function createHmac(algorithm: string, key: string): Hmac;
export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean;
