import { accountAnswer } from '../account-answer.ts';
import { fields, keyIn, numberIn, textAt, textsAt } from '../params.ts';
import { invalidParams } from '../rpc-error.ts';
import type { Methods } from './method.ts';

const MAX_ACCOUNTS = 100;

/** Methods that read accounts by key. */
export const accountMethods: Methods = {
  getBalance(view, params) {
    const key = keyIn(textAt(params, 0));
    const block = view.block(params[1]);
    return view.context(block, view.ledger.accounts.at(key, block.height)?.lamports() ?? 0n);
  },
  getAccountInfo(view, params) {
    const key = keyIn(textAt(params, 0));
    const block = view.block(params[1]);
    const read = (asked: string) => view.ledger.accounts.at(asked, block.height);
    const account = read(key);
    return view.context(block, account === null ? null : accountAnswer(account, fields(params[1]), read));
  },
  getMultipleAccounts(view, params) {
    const keys = textsAt(params, 0);
    if (keys.length > MAX_ACCOUNTS) throw invalidParams(`Too many inputs provided; max ${MAX_ACCOUNTS}`);
    const block = view.block(params[1]);
    const read = (asked: string) => view.ledger.accounts.at(asked, block.height);
    const options = { encoding: 'base64', ...fields(params[1]) };
    const accounts = keys.map((key) => read(keyIn(key)));
    return view.context(
      block,
      accounts.map((account) => (account === null ? null : accountAnswer(account, options, read))),
    );
  },
  getMinimumBalanceForRentExemption: ({ ledger }, [size]) => ledger.runtime.rentFor(numberIn(size, 'usize') ?? 0),
};
