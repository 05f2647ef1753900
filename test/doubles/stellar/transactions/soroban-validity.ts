import type { xdr } from '@stellar/stellar-sdk';
import { isAssetValid } from '../ledger/asset.ts';
import { declaredResources } from '../soroban/declared.ts';
import { nonRefundableFee } from '../soroban/resource-fee.ts';
import { SETTINGS } from '../soroban/settings.ts';
import { type Frame, isSorobanOperation, type TransactionFrame } from './frame.ts';
import type { Refusal } from './outcome.ts';

/** The protocol's limit for a resource fee. */
const MAX_RESOURCE_FEE = 1n << 50n;

/** stellar-core's `XDRProvidesValidFee`. */
export function isFeeWellFormed(frame: Frame): boolean {
  if (frame.fullFee < 0n) return false;
  if (!frame.isSoroban) return true;
  const { sorobanData } = frame.inner;
  if (sorobanData === undefined) return false;
  return sorobanData.resourceFee >= 0n && sorobanData.resourceFee <= MAX_RESOURCE_FEE;
}

/** The result of a contract transaction that breaks a rule, before its account is checked. */
export function sorobanFault(frame: TransactionFrame, paysItself: boolean): Refusal | undefined {
  const isMixed = frame.tx.operations.some((operation) => isSorobanOperation(operation) !== frame.isSoroban);
  if (isMixed || (frame.isSoroban && frame.size !== 1)) return 'txMalformed';
  const data = frame.sorobanData;
  if (!frame.isSoroban) return data === undefined ? undefined : 'txMalformed';
  if (data === undefined) return 'txMalformed';
  const isPaid = !paysItself || data.resourceFee <= frame.fullFee;
  const isEnough = data.resourceFee >= nonRefundableFee(declaredResources(frame, data));
  const isGood = isPlain(frame) && areWithinLimits(frame, data) && areKeysGood(data) && isPaid && isEnough;
  return isGood ? undefined : 'txSorobanInvalid';
}

/** Since protocol 25, a contract call may have no memo and no muxed source. */
function isPlain({ tx }: TransactionFrame): boolean {
  const [operation] = tx.operations;
  if (operation?.body.type !== 'invokeHostFunction') return true;
  const sources = [tx.sourceAccount, operation.sourceAccount];
  return tx.memo.type === 'memoNone' && sources.every((source) => source?.type !== 'keyTypeMuxedEd25519');
}

function areWithinLimits(frame: TransactionFrame, data: xdr.SorobanTransactionData): boolean {
  const { most } = SETTINGS;
  const used = declaredResources(frame, data);
  const { readOnly, readWrite } = data.resources.footprint;
  return (
    used.instructions <= most.instructions &&
    used.diskReadBytes <= most.diskReadBytes &&
    used.writeBytes <= most.writeBytes &&
    used.diskReadEntries <= most.diskReadEntries &&
    used.writeEntries <= most.writeEntries &&
    readOnly.length + readWrite.length <= most.footprintEntries &&
    used.transactionBytes <= most.transactionBytes
  );
}

function areKeysGood({ resources, ext }: xdr.SorobanTransactionData): boolean {
  const { readOnly, readWrite } = resources.footprint;
  const all = [...readOnly, ...readWrite];
  const areKnown = all.every((key) => isKeyGood(key) && key.toXdr().length <= SETTINGS.most.keyBytes);
  const areOnce = new Set(all.map((key) => key.toXdr('base64'))).size === all.length;
  const archived = ext.type === 'resourceExt' ? ext.resourceExt.archivedSorobanEntries : [];
  const areInOrder = archived.every((index, place) => index < readWrite.length && index > (archived[place - 1] ?? -1));
  return areKnown && areOnce && areInOrder;
}

function isKeyGood(key: xdr.LedgerKey): boolean {
  if (key.type !== 'trustline') return ['account', 'contractData', 'contractCode'].includes(key.type);
  return key.trustLine.asset.type !== 'assetTypeNative' && isAssetValid(key.trustLine.asset);
}
