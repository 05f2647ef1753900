import {
  Address,
  authorizeEntry,
  Contract,
  type Keypair,
  nativeToScVal,
  Operation,
  rpc,
  scValToNative,
  type Transaction,
  xdr,
} from '@stellar/stellar-sdk';
import { type StellarScene, startStellarScene } from './stellar-scene.ts';

/** Values of contracts. */
export const i128 = (amount: bigint) => nativeToScVal(amount, { type: 'i128' });
export const u32 = (number: number) => xdr.ScVal.scvU32(number);
export const symbol = (text: string) => xdr.ScVal.scvSymbol(text);
export const text = (words: string) => xdr.ScVal.scvString(words);
export const vec = (...values: xdr.ScVal[]) => xdr.ScVal.scvVec(values);
export const address = (at: string | Keypair) =>
  Address.fromString(typeof at === 'string' ? at : at.publicKey()).toScVal();

export const invoke = (contract: string, name: string, ...args: xdr.ScVal[]): xdr.Operation =>
  new Contract(contract).call(name, ...args);

/** A Stellar network with tools for contract calls. */
export interface ContractScene extends StellarScene {
  /** The address of the native asset's contract. */
  readonly native: string;
  simulate(source: Keypair, operation: xdr.Operation): Promise<rpc.Api.SimulateTransactionResponse>;
  /** Returns the error of a simulation. */
  failureOf(source: Keypair, operation: xdr.Operation): Promise<string>;
  /** Adds the results of a simulation to a transaction, and signs it. */
  prepared(source: Keypair, operation: xdr.Operation): Promise<Transaction>;
  /** Prepares a transaction with an account's consent, valid for that many ledgers. */
  authorized(source: Keypair, signer: Keypair, operation: xdr.Operation, until?: number): Promise<Transaction>;
  /** Returns the result of a function that only reads. */
  asked(contract: string, name: string, ...args: xdr.ScVal[]): Promise<unknown>;
}

export async function startContractScene(): Promise<ContractScene> {
  return contractsOn(await startStellarScene());
}

/** Adds the tools for contract calls to a network. */
export async function contractsOn(scene: StellarScene): Promise<ContractScene> {
  const { net, server, funded, signed } = scene;
  const simulate = async (source: Keypair, operation: xdr.Operation) =>
    server.simulateTransaction(await signed(source, [operation], { signers: [] }));
  const prepared = async (source: Keypair, operation: xdr.Operation) => {
    const draft = await signed(source, [operation], { signers: [] });
    const transaction = await server.prepareTransaction(draft);
    transaction.sign(source);
    return transaction;
  };
  return {
    ...scene,
    native: await net.assetContract('native'),
    simulate,
    prepared,
    async failureOf(source, operation) {
      const found = await simulate(source, operation);
      return rpc.Api.isSimulationError(found) ? found.error : 'nothing';
    },
    async authorized(source, signer, operation, until = 100) {
      const found = await simulate(source, operation);
      if (!rpc.Api.isSimulationSuccess(found)) throw new Error(found.error);
      const expires = found.latestLedger + until;
      const entries = found.result?.auth ?? [];
      const auth = await Promise.all(entries.map((entry) => authorizeEntry(entry, signer, expires, net.passphrase)));
      return prepared(source, withAuth(operation, auth));
    },
    async asked(contract, name, ...args) {
      const result = await simulate(await funded(), invoke(contract, name, ...args));
      if (!rpc.Api.isSimulationSuccess(result)) throw new Error(result.error);
      return scValToNative(result.result?.retval ?? xdr.ScVal.scvVoid());
    },
  };
}

/** Makes the same call with other consents. */
export function withAuth(operation: xdr.Operation, auth: readonly xdr.SorobanAuthorizationEntry[]): xdr.Operation {
  if (operation.body.type !== 'invokeHostFunction') throw new Error('Only a host function is authorized.');
  const { hostFunction } = operation.body.invokeHostFunctionOp;
  return Operation.invokeHostFunction({ func: hostFunction, auth: [...auth] });
}

/** The resources that a contract's transaction declares. */
export function dataOf(transaction: Transaction): xdr.SorobanTransactionData {
  const envelope = transaction.toEnvelope();
  const ext = envelope.type === 'envelopeTypeTx' ? envelope.v1.tx.ext : undefined;
  if (ext?.type !== 'sorobanData') throw new Error('The transaction declares nothing.');
  return ext.sorobanData;
}
