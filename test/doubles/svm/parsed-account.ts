import { toBase58 } from './base58.ts';
import { nonceOf } from './durable-nonce.ts';
import type { NativeAccount } from './native.ts';
import { mintOf, TOKEN_PROGRAMS, tokenAccount, tokenAmount } from './token-account.ts';

type Read = (key: string) => NativeAccount | null;

/** The `jsonParsed` form of token accounts, mints and nonces; undefined for others, which stay bytes. */
export function parsedData(account: NativeAccount, read: Read) {
  const space = account.data().length;
  const program = toBase58(account.owner()) === TOKEN_PROGRAMS[1] ? 'spl-token-2022' : 'spl-token';
  const token = tokenAccount(account);
  if (token !== undefined) {
    const decimals = mintOf(read(token.mint))?.decimals ?? 0;
    const info = {
      isNative: token.mint === 'So11111111111111111111111111111111111111112',
      mint: token.mint,
      owner: token.owner,
      state: token.frozen ? 'frozen' : 'initialized',
      tokenAmount: tokenAmount(token.amount, decimals),
    };
    return { program, parsed: { info, type: 'account' }, space };
  }
  const mint = mintOf(account);
  if (mint !== undefined) {
    const info = { decimals: mint.decimals, isInitialized: true, supply: String(mint.supply), ...authorities(account) };
    return { program, parsed: { info, type: 'mint' }, space };
  }
  const nonce = nonceOf(account);
  if (nonce === undefined) return undefined;
  const info = {
    authority: nonce.authority,
    blockhash: nonce.value,
    feeCalculator: { lamportsPerSignature: '5000' },
  };
  return { program: 'nonce', parsed: { info, type: 'initialized' }, space };
}

function authorities(mint: NativeAccount) {
  const data = Buffer.from(mint.data());
  const at = (offset: number) =>
    data.readUInt32LE(offset) === 0 ? null : toBase58(data.subarray(offset + 4, offset + 36));
  return { mintAuthority: at(0), freezeAuthority: at(46) };
}
