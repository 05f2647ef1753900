import { toBase58 } from './base58.ts';
import type { NativeAccount } from './native.ts';
import { type Fields, fields, numberIn, oneOf } from './params.ts';
import { parsedData } from './parsed-account.ts';
import { invalidParams } from './rpc-error.ts';

const ENCODINGS = ['binary', 'base58', 'base64', 'base64+zstd', 'jsonParsed'] as const;

/** The rent epoch that nodes give for every account, because rent is no longer collected. */
const RENT_EXEMPT = 2n ** 64n - 1n;
const MAX_BASE58 = 128;

type Read = (key: string) => NativeAccount | null;

/** An account as the node gives it in the asked encoding. @throws RpcError */
export function accountAnswer(account: NativeAccount, options: Fields, read: Read) {
  const data = account.data();
  return {
    lamports: account.lamports(),
    data: encoded(account, options, read),
    owner: toBase58(account.owner()),
    executable: account.executable(),
    rentEpoch: RENT_EXEMPT,
    space: data.length,
  };
}

function encoded(account: NativeAccount, options: Fields, read: Read): unknown {
  const encoding = oneOf(options['encoding'], ENCODINGS, 'encoding') ?? 'binary';
  const whole = account.data();
  const slice = fields(options['dataSlice']);
  const from = numberIn(slice['offset'], 'offset') ?? 0;
  const data = whole.subarray(from, from + (numberIn(slice['length'], 'length') ?? whole.length));
  if (encoding === 'base64+zstd') throw invalidParams('base64+zstd is not spoken by this counterpart');
  const parsed = encoding === 'jsonParsed' ? parsedData(account, read) : undefined;
  if (parsed !== undefined) return parsed;
  if (encoding === 'base64' || encoding === 'jsonParsed') return [Buffer.from(data).toString('base64'), 'base64'];
  if (data.length > MAX_BASE58) {
    throw invalidParams('Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.');
  }
  return encoding === 'base58' ? [toBase58(data), 'base58'] : toBase58(data);
}
