import { fromBase58 } from './base58.ts';
import { invalidParams } from './rpc-error.ts';

export type Params = readonly unknown[];
export type Fields = Readonly<Record<string, unknown>>;

/** A call's options; none is no fields. @throws RpcError */
export function fields(value: unknown): Fields {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw invalidType(value, 'struct');
  return value as Fields;
}

/** A parameter that must be there. @throws RpcError */
export function textAt(params: Params, index: number): string {
  if (params.length <= index) throw invalidParams(`\`params\` should have at least ${index + 1} argument(s)`);
  const value = params[index];
  if (typeof value !== 'string') throw invalidType(value, 'a string');
  return value;
}

/** @throws RpcError */
export function textsAt(params: Params, index: number): string[] {
  if (params.length <= index) throw invalidParams(`\`params\` should have at least ${index + 1} argument(s)`);
  const value = params[index];
  if (!Array.isArray(value)) throw invalidType(value, 'a sequence');
  return value.map((_, place) => textAt(value, place));
}

/** @throws RpcError */
export function numberIn(value: unknown, expected: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) throw invalidType(value, `u64 (${expected})`);
  return value;
}

/** @throws RpcError */
export function flagIn(value: unknown): boolean {
  if (value !== undefined && value !== null && typeof value !== 'boolean') throw invalidType(value, 'a boolean');
  return value === true;
}

/** @throws RpcError for a text that is not among the known ones */
export function oneOf<T extends string>(value: unknown, known: readonly T[], name: string): T | undefined {
  if (value === undefined || value === null) return undefined;
  const found = known.find((one) => one === value);
  if (found !== undefined) return found;
  const names = known.map((one) => `\`${one}\``).join(', ');
  throw invalidParams(`Invalid params: unknown variant \`${String(value)}\` of ${name}, expected one of ${names}.`);
}

/** An account, mint or program. @throws RpcError */
export function keyIn(text: string): string {
  return sized(text, 32);
}

/** @throws RpcError */
export function signatureIn(text: string): string {
  return sized(text, 64);
}

function sized(text: string, size: number): string {
  const bytes = text.length > 90 ? new Uint8Array() : fromBase58(text);
  if (bytes === undefined) throw invalidParams('Invalid param: Invalid');
  if (bytes.length !== size) throw invalidParams('Invalid param: WrongSize');
  return text;
}

function invalidType(value: unknown, expected: string) {
  return invalidParams(`Invalid params: invalid type: ${worded(value)}, expected ${expected}.`);
}

function worded(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'sequence';
  if (typeof value === 'string') return `string "${value}"`;
  if (typeof value === 'number')
    return Number.isInteger(value) ? `integer \`${value}\`` : `floating point \`${value}\``;
  return typeof value === 'boolean' ? `boolean \`${value}\`` : 'map';
}
