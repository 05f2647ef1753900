import { xdr } from '@stellar/stellar-sdk';
import { accountXdr, addressXdr } from './address.ts';
import { assetOf } from './asset.ts';
import type { AccountEntry, Entry, Liabilities, OfferEntry, TrustLineEntry } from './entry.ts';

/** The XDR of an entry. */
export function toLedgerEntry(entry: Entry, modified: number): xdr.LedgerEntry {
  const data = toEntryData(entry);
  return new xdr.LedgerEntry({ lastModifiedLedgerSeq: modified, data, ext: toEntryExtension(entry) });
}

export function toEntryExtension(entry: Entry): xdr.LedgerEntryExt {
  const sponsor = 'sponsor' in entry ? entry.sponsor : undefined;
  if (sponsor === undefined) return xdr.LedgerEntryExt.v0();
  const ext = xdr.LedgerEntryExtensionV1Ext.v0();
  return xdr.LedgerEntryExt.v1(new xdr.LedgerEntryExtensionV1({ sponsoringId: accountXdr(sponsor), ext }));
}

export function toEntryData(entry: Entry): xdr.LedgerEntryData {
  switch (entry.kind) {
    case 'account':
      return xdr.LedgerEntryData.account(toAccount(entry));
    case 'trust-line':
      return xdr.LedgerEntryData.trustline(toTrustLine(entry));
    case 'offer':
      return xdr.LedgerEntryData.offer(toOffer(entry));
    case 'data':
      return xdr.LedgerEntryData.data(
        new xdr.DataEntry({
          accountId: accountXdr(entry.account),
          dataName: entry.name,
          dataValue: new xdr.DataValue(Buffer.from(entry.value, 'base64')),
          ext: xdr.DataEntryExt.v0(),
        }),
      );
    case 'claimable-balance':
      return xdr.LedgerEntryData.claimableBalance(
        new xdr.ClaimableBalanceEntry({
          balanceId: xdr.ClaimableBalanceId.fromXdr(entry.id, 'base64'),
          claimants: entry.claimants.map(({ id, predicate }) =>
            xdr.Claimant.claimantTypeV0(
              new xdr.ClaimantV0({
                destination: accountXdr(id),
                predicate: xdr.ClaimPredicate.fromXdr(predicate, 'base64'),
              }),
            ),
          ),
          asset: assetOf(entry.asset).toXdrObject(),
          amount: entry.amount,
          ext: xdr.ClaimableBalanceEntryExt.v0(),
        }),
      );
    case 'contract-data':
      return xdr.LedgerEntryData.contractData(
        new xdr.ContractDataEntry({
          ext: xdr.ExtensionPoint.v0(),
          contract: addressXdr(entry.contract),
          key: xdr.ScVal.fromXdr(entry.key, 'base64'),
          durability: xdr.ContractDataDurability[entry.durability],
          val: xdr.ScVal.fromXdr(entry.value, 'base64'),
        }),
      );
    case 'contract-code':
      return xdr.LedgerEntryData.contractCode(
        new xdr.ContractCodeEntry({
          ext: xdr.ContractCodeEntryExt.v0(),
          hash: entry.hash,
          code: Buffer.from(entry.code, 'base64'),
        }),
      );
    default:
      return entry satisfies never;
  }
}

function toAccount(entry: AccountEntry): xdr.AccountEntry {
  const { master, low, medium, high } = entry.thresholds;
  return new xdr.AccountEntry({
    accountId: accountXdr(entry.id),
    balance: entry.balance,
    seqNum: entry.sequence,
    numSubEntries: entry.subEntries,
    inflationDest: entry.inflationDestination === null ? null : accountXdr(entry.inflationDestination),
    flags: entry.flags,
    homeDomain: entry.homeDomain,
    thresholds: new Uint8Array([master, low, medium, high]),
    signers: entry.signers.map(
      ({ key, weight }) => new xdr.Signer({ key: xdr.SignerKey.fromXdr(key, 'base64'), weight }),
    ),
    ext: accountExtension(entry),
  });
}

/** An account only gets extensions when one of them first holds a value. */
function accountExtension(account: AccountEntry): xdr.AccountEntryExt {
  const { liabilities, sequenceLedger, sequenceTime, signers, sponsored, sponsoring } = account;
  const isNew = sequenceLedger === 0 && sponsored === 0 && sponsoring === 0;
  const isPlain = isNew && liabilities.buying === 0n && liabilities.selling === 0n;
  if (isPlain) return xdr.AccountEntryExt.v0();
  const third = new xdr.AccountEntryExtensionV3({
    ext: xdr.ExtensionPoint.v0(),
    seqLedger: sequenceLedger,
    seqTime: sequenceTime,
  });
  const second = new xdr.AccountEntryExtensionV2({
    numSponsored: sponsored,
    numSponsoring: sponsoring,
    signerSponsoringIDs: signers.map(({ sponsor }) => (sponsor === undefined ? null : accountXdr(sponsor))),
    ext: sequenceLedger === 0 ? xdr.AccountEntryExtensionV2Ext.v0() : xdr.AccountEntryExtensionV2Ext.v3(third),
  });
  const ext = isNew ? xdr.AccountEntryExtensionV1Ext.v0() : xdr.AccountEntryExtensionV1Ext.v2(second);
  return xdr.AccountEntryExt.v1(new xdr.AccountEntryExtensionV1({ liabilities: toLiabilities(liabilities), ext }));
}

function toTrustLine(entry: TrustLineEntry): xdr.TrustLineEntry {
  const { buying, selling } = entry.liabilities;
  const v1 = () =>
    new xdr.TrustLineEntryV1({ liabilities: toLiabilities(entry.liabilities), ext: xdr.TrustLineEntryV1Ext.v0() });
  return new xdr.TrustLineEntry({
    accountId: accountXdr(entry.account),
    asset: assetOf(entry.asset).toTrustLineXdrObject(),
    balance: entry.balance,
    limit: entry.limit,
    flags: entry.flags,
    ext: buying === 0n && selling === 0n ? xdr.TrustLineEntryExt.v0() : xdr.TrustLineEntryExt.v1(v1()),
  });
}

export function toOffer(entry: OfferEntry): xdr.OfferEntry {
  return new xdr.OfferEntry({
    sellerId: accountXdr(entry.seller),
    offerId: entry.id,
    selling: assetOf(entry.selling).toXdrObject(),
    buying: assetOf(entry.buying).toXdrObject(),
    amount: entry.amount,
    price: new xdr.Price(entry.price),
    flags: entry.flags,
    ext: xdr.OfferEntryExt.v0(),
  });
}

const toLiabilities = ({ buying, selling }: Liabilities) => new xdr.Liabilities({ buying, selling });
