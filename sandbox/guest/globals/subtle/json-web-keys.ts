import type { Wanted } from './algorithm.ts';
import type { KeyParts } from './crypto-key.ts';
import type { Fail, Given } from './parameters.ts';

/** Checks that a JSON Web Key is of the wanted type and allows the wanted use (RFC 7517 4). */
export function checkJwk(
  fail: Fail,
  jwk: Given,
  { extractable, usages }: Wanted,
  { kty, use }: { kty: string; use: 'sig' | 'enc' },
): void {
  if (jwk['kty'] !== kty) throw fail('DataError', `The key's kty is not ${kty}`);
  if (usages.length > 0 && jwk['use'] !== undefined && jwk['use'] !== use) {
    throw fail('DataError', `The key's use is not ${use}`);
  }
  const { key_ops: operations, ext } = jwk;
  if (operations !== undefined) {
    const all = Array.isArray(operations) ? operations : [];
    if (!Array.isArray(operations) || new Set(all).size !== all.length) {
      throw fail('DataError', "The key's key_ops are no list of different texts");
    }
    if (usages.some((usage) => !all.includes(usage))) throw fail('DataError', "The key's key_ops lack a usage");
  }
  if (ext === false && extractable) throw fail('DataError', 'The key says that it is not extractable');
}

/** @throws DataError where the key is for another algorithm */
export function checkAlg(fail: Fail, jwk: Given, alg: string | undefined): void {
  if (jwk['alg'] !== undefined && jwk['alg'] !== alg) throw fail('DataError', "The key's alg is another one");
}

/** A JSON Web Key: its material, and the fields that every such key has. */
export function jwkOf({ usages, extractable }: KeyParts, material: Given, alg?: string): Given {
  return { ...material, key_ops: [...usages], ext: extractable, ...(alg === undefined ? {} : { alg }) };
}
