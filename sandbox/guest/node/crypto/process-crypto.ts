import { bytesFromBase64 } from '../../globals/encoding/bytes.ts';
import type { RuntimeServices } from '../../lazy-module-loader.ts';
import { nodeError } from '../node-error.ts';
import type { CryptoFailure, CryptoQuestion } from './crypto-question.ts';

const KINDS = { Error, TypeError, RangeError };
const NEVER_SAID = 'The process did not do this';

/** Asks the process to compute bytes or text. Throws a refusal as Node would throw it. */
export interface ProcessCrypto {
  bytes(question: CryptoQuestion): Uint8Array<ArrayBuffer>;
  text(question: CryptoQuestion): string;
  /** Bytes that are computed beside the guest. */
  bytesLater(question: CryptoQuestion): Promise<Uint8Array<ArrayBuffer>>;
  textLater(question: CryptoQuestion): Promise<string>;
}

/** Reads the process's answers. */
export function createProcessCrypto({
  compute,
  computeLater,
}: Pick<RuntimeServices, 'compute' | 'computeLater'>): ProcessCrypto {
  const bytesIn = (answer: string) => bytesFromBase64(bodyOf(answer));
  return {
    bytes: (question) => bytesIn(compute(question)),
    text: (question) => bodyOf(compute(question)),
    bytesLater: async (question) => bytesIn(await computeLater(question)),
    textLater: async (question) => bodyOf(await computeLater(question)),
  };
}

function bodyOf(answer: string): string {
  if (answer === '') throw nodeError('ERR_CRYPTO_OPERATION_FAILED', NEVER_SAID);
  if (answer.startsWith('!')) throw failure(JSON.parse(answer.slice(1)) as CryptoFailure);
  return answer.slice(1);
}

function failure({ kind, message, code, ...more }: CryptoFailure): Error {
  const Kind = KINDS[kind];
  if (code === undefined || code.startsWith('ERR_OSSL')) {
    return Object.assign(new Kind(message), code === undefined ? more : { ...more, code });
  }
  return Object.assign(nodeError(code, message, Kind), more);
}
