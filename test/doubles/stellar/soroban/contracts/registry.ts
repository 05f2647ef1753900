import type { xdr } from '@stellar/stellar-sdk';
import { sha256 } from '../../transactions/frame.ts';
import type { Contract } from '../host.ts';
import { assetContract } from './asset-contract.ts';
import { feeForwarder } from './fee-forwarder.ts';
import { probe } from './probe.ts';
import { router } from './router.ts';
import { thief } from './thief.ts';
import { token } from './token.ts';
import { wallet } from './wallet.ts';

const KINDS = { 'fee-forwarder': feeForwarder, probe, router, thief, token, wallet } as const satisfies Record<
  string,
  Contract
>;

export type ContractKind = keyof typeof KINDS;

/** Stands for a contract's code. An upload of these bytes gives this contract. */
export function codeOf(kind: ContractKind): Buffer {
  return Buffer.concat([Buffer.from('\0asm\x01\0\0\0', 'latin1'), Buffer.from(kind)]);
}

const BY_HASH = new Map<string, Contract>(
  Object.entries(KINDS).map(([kind, contract]) => [sha256(codeOf(kind as ContractKind)).toString('hex'), contract]),
);

/** @throws Error for code that only a real network can run */
export function contractOf(executable: xdr.ContractExecutable): Contract {
  if (executable.type === 'contractExecutableStellarAsset') return assetContract;
  const hash = executable.type === 'contractExecutableWasm' ? executable.wasmHash.toString() : executable.type;
  const found = BY_HASH.get(hash);
  if (found === undefined) throw new Error(`The Stellar network of the tests cannot run the code ${hash}.`);
  return found;
}
