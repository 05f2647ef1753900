import { randomBytes } from 'node:crypto';
import { Keypair, xdr } from '@stellar/stellar-sdk';
import { addressXdr } from '../ledger/address.ts';
import { assetOf } from '../ledger/asset.ts';
import { type ContractKind, codeOf, contractOf } from '../soroban/contracts/registry.ts';
import { contractIdOf, Host } from '../soroban/host.ts';
import { nameOf, Storage } from '../soroban/storage.ts';
import { read } from '../soroban/values.ts';
import type { Ledger } from './ledger.ts';

/** Returns an asset's contract, and makes it if it does not exist. */
export function makeAssetContract(ledger: Ledger, asset: string): string {
  const preimage = xdr.ContractIdPreimage.contractIdPreimageFromAsset(assetOf(asset).toXdrObject());
  const contract = contractIdOf(ledger.networkId, preimage);
  const isThere = [...ledger.history.at(ledger.latest.sequence).all('contract-data')].some(
    (entry) => entry.contract === contract,
  );
  if (isThere) return contract;
  const executable = xdr.ContractExecutable.contractExecutableStellarAsset();
  const args = new xdr.CreateContractArgs({ contractIdPreimage: preimage, executable });
  return read.address(perform(ledger, xdr.HostFunction.hostFunctionTypeCreateContract(args)));
}

/** A contract of a kind, built with values. */
export function makeContract(ledger: Ledger, kind: ContractKind, args: readonly string[]): string {
  const wasm = read.bytes(perform(ledger, xdr.HostFunction.hostFunctionTypeUploadContractWasm(codeOf(kind))));
  const from = new xdr.ContractIdPreimageFromAddress({
    address: addressXdr(Keypair.random().publicKey()),
    salt: randomBytes(32),
  });
  const asked = new xdr.CreateContractArgsV2({
    contractIdPreimage: xdr.ContractIdPreimage.contractIdPreimageFromAddress(from),
    executable: xdr.ContractExecutable.contractExecutableWasm(wasm),
    constructorArgs: args.map((arg) => xdr.ScVal.fromXdr(arg, 'base64')),
  });
  return read.address(perform(ledger, xdr.HostFunction.hostFunctionTypeCreateContractV2(asked)));
}

/** Ends an entry's lifetime before the newest ledger. */
export function archive(ledger: Ledger, key: string): void {
  const name = nameOf(xdr.LedgerKey.fromXdr(key, 'base64'));
  ledger.arrange((state) => {
    const entry = state.get(name)?.entry;
    if (entry === undefined || !('liveUntil' in entry)) throw new Error(`${name} has no life that could end.`);
    state.put({ ...entry, liveUntil: ledger.latest.sequence - 1 });
  });
}

function perform(ledger: Ledger, asked: xdr.HostFunction): xdr.ScVal {
  return ledger.arrange((state) => {
    const host = new Host({
      contractOf,
      storage: new Storage(state, { kind: 'recording' }),
      header: ledger.latest,
      networkId: ledger.networkId,
      source: Keypair.random().publicKey(),
      auth: { kind: 'recording', allowsNonRoot: true, isUpgraded: false },
    });
    return host.perform(asked);
  });
}
