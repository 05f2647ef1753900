import { xdr } from '@stellar/stellar-sdk';
import { assetNameOf } from '../ledger/asset.ts';
import { NATIVE } from '../ledger/entry.ts';
import type { Storage } from './storage.ts';
import { value } from './values.ts';

const INSTANCE = xdr.ScVal.scvLedgerKeyContractInstance();

/** The instance at a contract's address: its code and its instance storage. */
export function instanceIn(storage: Storage, contract: string): xdr.ScContractInstance | undefined {
  const found = storage.data(contract, INSTANCE, 'persistent');
  return found?.type === 'scvContractInstance' ? found.instance : undefined;
}

export function writeInstance(storage: Storage, contract: string, instance: xdr.ScContractInstance): void {
  storage.putData(contract, INSTANCE, 'persistent', xdr.ScVal.scvContractInstance(instance));
}

/** A value that a contract keeps with its instance. */
export function instanceValue(storage: Storage, contract: string, name: string): xdr.ScVal | undefined {
  const wanted = value.symbol(name).toXdr('base64');
  const entries = instanceIn(storage, contract)?.storage ?? [];
  return entries.find(({ key }) => key.toXdr('base64') === wanted)?.val;
}

export function setInstanceValue(storage: Storage, contract: string, name: string, val: xdr.ScVal): void {
  const instance = instanceIn(storage, contract);
  if (instance === undefined) throw new Error(`There is no contract ${contract}.`);
  const key = value.symbol(name);
  const others = (instance.storage ?? []).filter((entry) => entry.key.toXdr('base64') !== key.toXdr('base64'));
  const entries = [...others, new xdr.ScMapEntry({ key, val })].sort(byKey);
  writeInstance(storage, contract, new xdr.ScContractInstance({ executable: instance.executable, storage: entries }));
}

export function newInstance(
  executable: xdr.ContractExecutable,
  preimage: xdr.ContractIdPreimage,
): xdr.ScContractInstance {
  const isAsset = preimage.type === 'contractIdPreimageFromAsset';
  return new xdr.ScContractInstance({ executable, storage: isAsset ? assetStorage(preimage.fromAsset) : null });
}

/** The storage of the asset's contract: soroban-env-host's `init_asset`. */
function assetStorage(asset: xdr.Asset): xdr.ScMapEntry[] {
  const name = assetNameOf(asset);
  const [code = '', issuer = ''] = name.split(':');
  const isNative = name === NATIVE;
  const info = value.struct({
    decimal: value.u32(7),
    name: value.text(name),
    symbol: value.text(isNative ? NATIVE : code),
  });
  const entries = [new xdr.ScMapEntry({ key: value.symbol('METADATA'), val: info })];
  if (!isNative) {
    entries.push(new xdr.ScMapEntry({ key: value.vec(value.symbol('Admin')), val: value.address(issuer) }));
  }
  const kind = isNative ? 'Native' : asset.type === 'assetTypeCreditAlphanum4' ? 'AlphaNum4' : 'AlphaNum12';
  entries.push(new xdr.ScMapEntry({ key: value.vec(value.symbol('AssetInfo')), val: value.vec(value.symbol(kind)) }));
  return entries;
}

const byKey = (one: xdr.ScMapEntry, other: xdr.ScMapEntry): number =>
  Buffer.compare(Buffer.from(one.key.toXdr()), Buffer.from(other.key.toXdr()));
