import { issuerOf } from '../../ledger/asset.ts';
import { type AccountEntry, type AssetName, NATIVE } from '../../ledger/entry.ts';
import { holdingOf } from '../../ledger/holding.ts';
import type { Contract, Host } from '../host.ts';
import { CONTRACT_ERRORS, contractError } from '../host-error.ts';
import { instanceValue } from '../instance.ts';
import { ledgerKey } from '../storage.ts';
import { read, value } from '../values.ts';
import { addToKeptBalance, keptBalance } from './contract-balances.ts';
import { tokenFunctions } from './token-functions.ts';

/** The contract of an asset (CAP-46-6). Accounts keep their usual balances. Contracts have balances in its storage. */
export const assetContract: Contract = {
  functions: tokenFunctions({
    of(host, token, owner) {
      if (owner.startsWith('C')) return keptBalance(host, token, owner);
      return holdingIn(host, assetAt(host, token), owner).balance;
    },
    add(host, token, owner, delta) {
      if (owner.startsWith('C')) addToKeptBalance(host, token, owner, delta);
      else addToHolding(host, assetAt(host, token), owner, delta);
    },
    issuer: (host, token) => issuerOf(assetAt(host, token)),
  }),
};

function assetAt(host: Host, token: string): AssetName {
  const info = instanceValue(host.storage, token, 'METADATA');
  if (info === undefined) throw new Error(`${token} is no asset's contract.`);
  const name = read.field(info, 'name');
  return name.type === 'scvString' ? name.str.toString() : NATIVE;
}

function keyFor(owner: string, asset: AssetName) {
  return asset === NATIVE ? ledgerKey.account(owner) : ledgerKey.trustLine(owner, asset);
}

function holdingIn(host: Host, asset: AssetName, owner: string) {
  host.charge();
  const isIssuer = issuerOf(asset) === owner;
  const found = isIssuer ? undefined : (host.storage.get(keyFor(owner, asset)) as AccountEntry | undefined);
  const holding = holdingOf(host.storage.state, host.header, owner, asset);
  if (holding !== undefined && (isIssuer || found !== undefined)) return holding;
  if (asset === NATIVE)
    throw contractError(CONTRACT_ERRORS.accountMissing, 'account entry is missing', value.address(owner));
  throw contractError(CONTRACT_ERRORS.trustLineMissing, 'trustline entry is missing for account', value.address(owner));
}

function addToHolding(host: Host, asset: AssetName, owner: string, delta: bigint): void {
  const holding = holdingIn(host, asset, owner);
  if (issuerOf(asset) === owner) return;
  if (!holding.isAuthorized) {
    throw contractError(CONTRACT_ERRORS.balanceDeauthorized, 'balance is deauthorized', value.address(owner));
  }
  host.storage.reachForWriting(keyFor(owner, asset));
  if (holding.add(host.storage.state, delta)) return;
  const words = 'resulting balance is not within the allowed range';
  throw contractError(CONTRACT_ERRORS.balance, words, value.i128(holding.balance), value.i128(delta));
}
