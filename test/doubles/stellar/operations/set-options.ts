import { xdr } from '@stellar/stellar-sdk';
import { addSubEntry, removeSubEntry, sponsoredNow } from '../ledger/account.ts';
import { accountIdOf, masterKeyOf } from '../ledger/address.ts';
import { ACCOUNT_FLAGS, type AccountEntry, type Signer } from '../ledger/entry.ts';
import { accountIn } from '../ledger/state.ts';
import { type Acting, type Operation, told } from './operation.ts';
import { isPrintable } from './printable.ts';

const Result = xdr.SetOptionsResult;
const tell = (result: xdr.SetOptionsResult) => told(xdr.OperationResultTr.setOptions(result));

const ALL_FLAGS = Object.values(ACCOUNT_FLAGS).reduce((all, flag) => all | flag, 0);
const MAX_SIGNERS = 20;

export function setOptions(op: xdr.SetOptionsOp): Operation {
  const weights = [op.masterWeight, op.lowThreshold, op.medThreshold, op.highThreshold];
  const changesAuthority = op.signer !== null || weights.some((weight) => weight !== null);
  return {
    threshold: changesAuthority ? 'high' : 'medium',
    check(source) {
      const [set, clear] = [op.setFlags ?? 0, op.clearFlags ?? 0];
      if (((set | clear) & ~ALL_FLAGS) !== 0) return tell(Result.setOptionsUnknownFlag());
      if ((set & clear) !== 0) return tell(Result.setOptionsBadFlags());
      if (weights.some((weight) => (weight ?? 0) > 255)) return tell(Result.setOptionsThresholdOutOfRange());
      if (op.signer !== null && isBadSigner(op.signer, source)) return tell(Result.setOptionsBadSigner());
      const isGoodDomain = op.homeDomain === null || isPrintable(op.homeDomain.bytes);
      return isGoodDomain ? undefined : tell(Result.setOptionsInvalidHomeDomain());
    },
    apply(acting) {
      const { state, source } = acting;
      const account = accountIn(state, source);
      if (account === undefined) return xdr.OperationResult.opNoAccount();
      const changed = withOptions(acting, account, op);
      if ('refusal' in changed) return changed.refusal;
      state.put(changed);
      return (op.signer && putSigner(acting, op.signer)) ?? tell(Result.setOptionsSuccess());
    },
  };
}

function isBadSigner({ key, weight }: xdr.Signer, source: string): boolean {
  if (weight > 255 || key.equals(masterKeyOf(source))) return true;
  return key.type === 'signerKeyTypeEd25519SignedPayload' && key.ed25519SignedPayload.payload.length === 0;
}

function withOptions(
  { state, source }: Acting,
  account: AccountEntry,
  op: xdr.SetOptionsOp,
): AccountEntry | { refusal: xdr.OperationResult } {
  const inflation = op.inflationDest && accountIdOf(op.inflationDest);
  if (inflation !== null && inflation !== source && accountIn(state, inflation) === undefined) {
    return { refusal: tell(Result.setOptionsInvalidInflation()) };
  }
  const touchesFlags = ((op.setFlags ?? 0) | (op.clearFlags ?? 0)) !== 0;
  if (touchesFlags && (account.flags & ACCOUNT_FLAGS.immutable) !== 0) {
    return { refusal: tell(Result.setOptionsCantChange()) };
  }
  const flags = (account.flags & ~(op.clearFlags ?? 0)) | (op.setFlags ?? 0);
  if ((flags & ACCOUNT_FLAGS.clawback) !== 0 && (flags & ACCOUNT_FLAGS.revocable) === 0) {
    return { refusal: tell(Result.setOptionsAuthRevocableRequired()) };
  }
  return {
    ...account,
    inflationDestination: inflation ?? account.inflationDestination,
    flags,
    homeDomain: op.homeDomain?.toString() ?? account.homeDomain,
    thresholds: {
      master: op.masterWeight ?? account.thresholds.master,
      low: op.lowThreshold ?? account.thresholds.low,
      medium: op.medThreshold ?? account.thresholds.medium,
      high: op.highThreshold ?? account.thresholds.high,
    },
  };
}

/** Adds a signer, changes its weight, or removes it with a weight of zero. */
function putSigner(acting: Acting, asked: xdr.Signer): xdr.OperationResult | undefined {
  const { state, header, source } = acting;
  const account = accountIn(state, source);
  const [key, { weight }] = [asked.key.toXdr('base64'), asked];
  const known = account?.signers.find((signer) => signer.key === key);
  const others = account?.signers.filter((signer) => signer.key !== key) ?? [];
  if (weight === 0) {
    if (known !== undefined) removeSubEntry(state, header, source, known.sponsor);
    setSigners(state, source, others);
    return undefined;
  }
  if (known === undefined) {
    if (others.length >= MAX_SIGNERS) return tell(Result.setOptionsTooManySigners());
    const refused = addSubEntry(state, header, source);
    if (refused === 'low-reserve') return tell(Result.setOptionsLowReserve());
    if (refused === 'too-many') return xdr.OperationResult.opTooManySubentries();
  }
  const signer = known === undefined ? { key, weight, ...sponsoredNow(state, source) } : { ...known, weight };
  setSigners(state, source, [...others, signer].sort(byKey));
  return undefined;
}

function setSigners(state: Acting['state'], id: string, signers: readonly Signer[]): void {
  const account = accountIn(state, id);
  if (account !== undefined) state.put({ ...account, signers });
}

const byKey = (one: Signer, other: Signer): number =>
  Buffer.compare(Buffer.from(one.key, 'base64'), Buffer.from(other.key, 'base64'));
