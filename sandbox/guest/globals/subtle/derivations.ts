import { base64Of } from '../encoding/bytes.ts';
import { type Algorithm, checkedUsages, computed, type Tools } from './algorithm.ts';
import { makeKey } from './crypto-key.ts';
import type { Bytes, Given } from './parameters.ts';

const MAX_BYTES = 65_536;

/** HKDF and PBKDF2 (Web Cryptography 32 and 33). */
export function createDerivations(tools: Tools): readonly Algorithm[] {
  const { fail, parameters, arithmetic } = tools;

  function keysOf(name: string): Algorithm {
    return {
      name,
      lengthOf: () => null,
      importKey(format, data, _given, wanted) {
        if (format !== 'raw') throw fail('NotSupportedError', `Such keys are not read as ${format}`);
        const usages = checkedUsages(fail, wanted, ['deriveKey', 'deriveBits']);
        if (wanted.extractable) throw fail('SyntaxError', 'Such keys are never extractable');
        const material = base64Of(data as Bytes);
        return makeKey({ type: 'secret', extractable: false, algorithm: { name }, usages, material });
      },
    };
  }

  function bytesFor(bits: number | null): number {
    if (bits === null || bits % 8 !== 0) throw fail('OperationError', 'The length is no number of whole bytes');
    if (bits / 8 > MAX_BYTES) throw fail('OperationError', `More than ${MAX_BYTES} bytes`);
    return bits / 8;
  }

  const salted = (given: Given) => ({
    hash: parameters.hash(given),
    salt: base64Of(parameters.bytes(given, 'salt')),
  });

  return [
    {
      ...keysOf('HKDF'),
      deriveBits(given, { material }, bits) {
        const info = base64Of(parameters.bytes(given, 'info'));
        const { hash, salt } = salted(given);
        const length = bytesFor(bits);
        if (length === 0) return new Uint8Array(0);
        return computed(tools, { op: 'hkdf', hash: hash.replace('-', ''), key: material, salt, info, length });
      },
    },
    {
      ...keysOf('PBKDF2'),
      async deriveBits(given, { material }, bits) {
        const { hash, salt } = salted(given);
        const iterations = parameters.whole(given, 'iterations');
        const length = bytesFor(bits);
        if (iterations === 0) throw fail('OperationError', 'There are no rounds');
        if (length === 0) return new Uint8Array(0);
        const question = { op: 'pbkdf2', password: material, salt, iterations, length } as const;
        try {
          return await arithmetic.bytesLater({ ...question, hash: hash.replace('-', '') });
        } catch (error) {
          throw fail('OperationError', error instanceof Error ? error.message : 'It failed');
        }
      },
    },
  ];
}
