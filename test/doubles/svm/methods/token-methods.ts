import { accountAnswer } from '../account-answer.ts';
import { fromBase58, toBase58 } from '../base58.ts';
import type { Block } from '../blocks.ts';
import type { NativeAccount } from '../native.ts';
import type { NodeView } from '../node-view.ts';
import { type Fields, fields, flagIn, keyIn, numberIn, textAt } from '../params.ts';
import { invalidParams } from '../rpc-error.ts';
import { mintOf, TOKEN_PROGRAMS, tokenAccount, tokenAmount } from '../token-account.ts';
import type { Methods } from './method.ts';

/** Methods that find accounts by their contents. */
export const tokenMethods: Methods = {
  getTokenAccountBalance(view, params) {
    const key = keyIn(textAt(params, 0));
    const block = view.block(params[1]);
    const read = readerAt(view, block);
    const account = read(key);
    if (account === null) throw invalidParams('Invalid param: could not find account');
    const token = tokenAccount(account);
    if (token === undefined) throw invalidParams('Invalid param: not a Token account');
    const mint = mintOf(read(token.mint));
    if (mint === undefined) throw invalidParams('Invalid param: could not find mint');
    return view.context(block, tokenAmount(token.amount, mint.decimals));
  },
  getTokenSupply(view, params) {
    const key = keyIn(textAt(params, 0));
    const block = view.block(params[1]);
    const account = readerAt(view, block)(key);
    if (account === null) throw invalidParams('Invalid param: could not find account');
    const mint = mintOf(account);
    if (mint === undefined) throw invalidParams('Invalid param: not a Token mint');
    return view.context(block, tokenAmount(mint.supply, mint.decimals));
  },
  getTokenAccountsByOwner(view, params) {
    const owner = keyIn(textAt(params, 0));
    const options = fields(params[2]);
    const block = view.block(options);
    const read = readerAt(view, block);
    const { program, mint } = tokensAsked(fields(params[1]), read);
    const found = accountsOf(view, block, program).filter(([, account]) => {
      const token = tokenAccount(account);
      return token?.owner === owner && (mint === undefined || token.mint === mint);
    });
    return view.context(
      block,
      found.map(([pubkey, account]) => ({ pubkey, account: accountAnswer(account, options, read) })),
    );
  },
  getProgramAccounts(view, params) {
    const program = keyIn(textAt(params, 0));
    const options = fields(params[1]);
    const block = view.block(options);
    const filters = Array.isArray(options['filters']) ? options['filters'].map(fields) : [];
    const found = accountsOf(view, block, program).filter(([, account]) =>
      filters.every((filter) => passes(account, filter)),
    );
    const read = readerAt(view, block);
    const answer = found.map(([pubkey, account]) => ({ pubkey, account: accountAnswer(account, options, read) }));
    return flagIn(options['withContext']) ? view.context(block, answer) : answer;
  },
};

type Read = (key: string) => NativeAccount | null;

const readerAt =
  ({ ledger }: NodeView, { height }: Block): Read =>
  (key) =>
    ledger.accounts.at(key, height);

function accountsOf(view: NodeView, block: Block, program: string): [string, NativeAccount][] {
  const { runtime, accounts } = view.ledger;
  const keys = new Set([...runtime.ownedBy(program), ...accounts.changed()]);
  return [...keys].flatMap((key): [string, NativeAccount][] => {
    const account = accounts.at(key, block.height);
    return account !== null && toBase58(account.owner()) === program ? [[key, account]] : [];
  });
}

function tokensAsked(filter: Fields, read: Read): { program: string; mint?: string } {
  if (filter['mint'] !== undefined) {
    const mint = keyIn(textAt([filter['mint']], 0));
    const account = read(mint);
    if (account === null) throw invalidParams('Invalid param: could not find mint');
    if (mintOf(account) === undefined) throw invalidParams('Invalid param: not a Token mint');
    return { program: toBase58(account.owner()), mint };
  }
  const program = keyIn(textAt([filter['programId']], 0));
  if (!TOKEN_PROGRAMS.some((known) => known === program)) {
    throw invalidParams('Invalid param: unrecognized Token program id');
  }
  return { program };
}

function passes(account: NativeAccount, filter: Fields): boolean {
  const data = account.data();
  if (filter['dataSize'] !== undefined) return data.length === numberIn(filter['dataSize'], 'u64');
  if (filter['tokenAccountState'] !== undefined) return tokenAccount(account) !== undefined;
  const { offset, bytes, encoding } = fields(filter['memcmp']);
  const from = numberIn(offset, 'usize') ?? 0;
  const text = textAt([bytes], 0);
  const wanted = encoding === 'base64' ? Buffer.from(text, 'base64') : fromBase58(text);
  if (wanted === undefined) throw invalidParams('Invalid param: Invalid');
  return Buffer.compare(data.subarray(from, from + wanted.length), wanted) === 0;
}
