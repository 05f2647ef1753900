import { xdr } from '@stellar/stellar-sdk';
import { invalidParams } from './rpc-error.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** The named parameters of a call. Missing parameters count as an empty object. @throws RpcError */
export function fieldsOf(params: unknown): Fields {
  if (params === undefined || params === null) return {};
  if (typeof params !== 'object' || Array.isArray(params)) throw invalidParams('invalid parameters');
  return params as Fields;
}

/** A text parameter. A missing one is empty, as in Go. @throws RpcError */
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

/** Refuses formats other than base64, which this network does not have. @throws RpcError */
export function mustBeBase64(fields: Fields): void {
  const format = textIn(fields, 'xdrFormat');
  if (format !== '' && format !== 'base64') {
    throw invalidParams(`The Stellar network of the tests has no xdrFormat "${format}"`);
  }
}

/** Parses an envelope; undefined if it is invalid. */
export function envelopeIn(text: string): xdr.TransactionEnvelope | undefined {
  try {
    return xdr.TransactionEnvelope.fromXdr(text, 'base64');
  } catch {
    return undefined;
  }
}
