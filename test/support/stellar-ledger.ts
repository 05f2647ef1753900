import type { Asset, Keypair } from '@stellar/stellar-sdk';
import type { ReadFromEndpoint } from '../../src/egress/rpc/rpc-client.ts';
import { newAccount } from '../doubles/stellar/ledger/account.ts';
import type { Entry } from '../doubles/stellar/ledger/entry.ts';
import { keyToXdr } from '../doubles/stellar/ledger/entry-key.ts';
import { toEntryData } from '../doubles/stellar/ledger/entry-xdr.ts';

/** A node's data without a network. The node is on ledger 60, after 900 s. The usual fee is 100. */
export interface Known {
  /** Accounts that have used sequence 7, and their balances in stroops. */
  accounts?: readonly (readonly [Keypair, bigint])[];
  /** Balances of assets. 5 units of each are promised to offers. */
  lines?: readonly (readonly [Keypair, Asset, bigint])[];
  usual?: number;
}

/** A node that answers from a list. */
export function knowing({ accounts = [], lines = [], usual = 100 }: Known): ReadFromEndpoint {
  const entries: Entry[] = [
    ...accounts.map(([key, balance]) => ({ ...newAccount(key.publicKey(), balance, 1), sequence: 7n })),
    ...lines.map(
      ([key, asset, balance]): Entry => ({
        kind: 'trust-line',
        account: key.publicKey(),
        asset: `${asset.code}:${asset.issuer}`,
        balance,
        limit: 2n ** 62n,
        flags: 1,
        liabilities: { buying: 0n, selling: 5n },
      }),
    ),
  ];
  const stored = entries.map((entry) => ({
    key: keyToXdr(entry).toXdr('base64'),
    xdr: toEntryData(entry).toXdr('base64'),
  }));
  return async (method, params, parse) => {
    if (method === 'getLatestLedger') return parse({ sequence: 60, closeTime: '900' });
    if (method === 'getFeeStats')
      return parse({ inclusionFee: { p90: String(usual) }, sorobanInclusionFee: { p90: String(usual) } });
    const { keys } = params as unknown as { keys: readonly string[] };
    return parse({ latestLedger: 60, entries: stored.filter(({ key }) => keys.includes(key)) });
  };
}
