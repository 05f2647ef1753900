import { xdr } from '@stellar/stellar-sdk';
import { accountIdOf, accountXdr, addressOf, addressXdr } from './address.ts';
import { assetNameOf, assetOf } from './asset.ts';
import type { AccountId, AssetName, Durability, Entry } from './entry.ts';

/** Unique texts for entries. */
export const keys = {
  account: (id: AccountId) => `account ${id}`,
  trustLine: (account: AccountId, asset: AssetName) => `trust-line ${account} ${asset}`,
  offer: (seller: AccountId, id: bigint) => `offer ${seller} ${id}`,
  data: (account: AccountId, name: string) => `data ${account} ${name}`,
  claimableBalance: (id: string) => `claimable-balance ${id}`,
  contractData: (contract: string, key: string, durability: Durability) =>
    `contract-data ${contract} ${key} ${durability}`,
  contractCode: (hash: string) => `contract-code ${hash}`,
};

export function keyOf(entry: Entry): string {
  switch (entry.kind) {
    case 'account':
      return keys.account(entry.id);
    case 'trust-line':
      return keys.trustLine(entry.account, entry.asset);
    case 'offer':
      return keys.offer(entry.seller, entry.id);
    case 'data':
      return keys.data(entry.account, entry.name);
    case 'claimable-balance':
      return keys.claimableBalance(entry.id);
    case 'contract-data':
      return keys.contractData(entry.contract, entry.key, entry.durability);
    case 'contract-code':
      return keys.contractCode(entry.hash);
    default:
      return entry satisfies never;
  }
}

/** Undefined for a kind of entry that this network does not have. */
export function keyOfXdr(key: xdr.LedgerKey): string | undefined {
  switch (key.type) {
    case 'account':
      return keys.account(accountIdOf(key.account.accountId));
    case 'trustline':
      if (key.trustLine.asset.type === 'assetTypePoolShare') return undefined;
      return keys.trustLine(accountIdOf(key.trustLine.accountId), assetNameOf(key.trustLine.asset));
    case 'offer':
      return keys.offer(accountIdOf(key.offer.sellerId), key.offer.offerId);
    case 'data':
      return keys.data(accountIdOf(key.data.accountId), key.data.dataName.toString());
    case 'claimableBalance':
      return keys.claimableBalance(key.claimableBalance.balanceId.toXdr('base64'));
    case 'contractData': {
      const { contract, key: value, durability } = key.contractData;
      return keys.contractData(addressOf(contract), value.toXdr('base64'), durability.name);
    }
    case 'contractCode':
      return keys.contractCode(key.contractCode.hash.toString());
    default:
      return undefined;
  }
}

export function keyToXdr(entry: Entry): xdr.LedgerKey {
  switch (entry.kind) {
    case 'account':
      return xdr.LedgerKey.account(new xdr.LedgerKeyAccount({ accountId: accountXdr(entry.id) }));
    case 'trust-line': {
      const asset = assetOf(entry.asset).toTrustLineXdrObject();
      return xdr.LedgerKey.trustline(new xdr.LedgerKeyTrustLine({ accountId: accountXdr(entry.account), asset }));
    }
    case 'offer':
      return xdr.LedgerKey.offer(new xdr.LedgerKeyOffer({ sellerId: accountXdr(entry.seller), offerId: entry.id }));
    case 'data':
      return xdr.LedgerKey.data(new xdr.LedgerKeyData({ accountId: accountXdr(entry.account), dataName: entry.name }));
    case 'claimable-balance': {
      const balanceId = xdr.ClaimableBalanceId.fromXdr(entry.id, 'base64');
      return xdr.LedgerKey.claimableBalance(new xdr.LedgerKeyClaimableBalance({ balanceId }));
    }
    case 'contract-data':
      return xdr.LedgerKey.contractData(
        new xdr.LedgerKeyContractData({
          contract: addressXdr(entry.contract),
          key: xdr.ScVal.fromXdr(entry.key, 'base64'),
          durability: xdr.ContractDataDurability[entry.durability],
        }),
      );
    case 'contract-code':
      return xdr.LedgerKey.contractCode(new xdr.LedgerKeyContractCode({ hash: entry.hash }));
    default:
      return entry satisfies never;
  }
}
