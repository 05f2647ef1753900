import { xdr } from '@stellar/stellar-sdk';
import { invalidParams } from './rpc-error.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** Parameters come by name only; none is no fields. @throws RpcError */
export function fieldsOf(params: unknown): Fields {
  if (params === undefined || params === null) return {};
  if (typeof params !== 'object' || Array.isArray(params)) throw invalidParams('invalid parameters');
  return params as Fields;
}

/** A text that may be absent, as Go reads it. @throws RpcError */
export function textIn(fields: Fields, name: string): string {
  const value = fields[name] ?? '';
  if (typeof value !== 'string') throw invalidParams('invalid parameters');
  return value;
}

/** @throws RpcError */
export function textsIn(fields: Fields, name: string): string[] {
  const value = fields[name] ?? [];
  if (!Array.isArray(value)) throw invalidParams('invalid parameters');
  return value.map((_, index) => textIn(value as unknown as Fields, String(index)));
}

/** @throws RpcError */
export function numberIn(fields: Fields, name: string): number {
  const value = fields[name] ?? 0;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > 0xffff_ffff) {
    throw invalidParams('invalid parameters');
  }
  return value;
}

/** Values as JSON are not spoken here. @throws RpcError */
export function mustBeBase64(fields: Fields): void {
  const format = textIn(fields, 'xdrFormat');
  if (format !== '' && format !== 'base64') {
    throw invalidParams(`The Stellar network of the tests has no xdrFormat "${format}"`);
  }
}

/** An envelope of a call, or undefined. */
export function envelopeIn(text: string): xdr.TransactionEnvelope | undefined {
  try {
    return xdr.TransactionEnvelope.fromXdr(text, 'base64');
  } catch {
    return undefined;
  }
}
