import { authorizeEntry, type Keypair, TransactionBuilder, xdr } from '@stellar/stellar-sdk';
import type { Test } from 'tap';
import { type ContractScene, contractsOn } from './stellar-contract-scene.ts';
import { type StellarStage, stellarStage } from './stellar-stage.ts';

/** A service whose users pay for contract calls through a fee forwarder. */
export interface ForwardStage extends StellarStage {
  readonly contracts: ContractScene;
  readonly forwarder: string;
  quote(body: object): ReturnType<StellarStage['ask']>;
  build(body: object): ReturnType<StellarStage['ask']>;
  /** A user's own transaction, unsigned, for the relayer to quote or build. */
  wanted(user: Keypair, operation: xdr.Operation): Promise<string>;
  /**
   * Has the relayer build the call.
   * @throws Error if the relayer does not build it
   */
  built(user: Keypair, operation: xdr.Operation, feeToken?: string): Promise<Built>;
  /** Adds the user's signature to the consent. */
  consented(built: Built, user: Keypair, change?: ChangeEntry): Promise<string>;
  /** Sends what was built, signed; resolves with the confirmed transaction. */
  relayed(built: Built, user: Keypair): Promise<Record<string, unknown>>;
}

export interface Built {
  transaction: string;
  user_auth_entry: string;
  fee_in_token: string;
  max_fee_in_token: string;
  fee_in_stroops: string;
}

type ChangeEntry = (entry: xdr.SorobanAuthorizationEntry) => xdr.SorobanAuthorizationEntry;

export async function forwardStage(t: Test, policies: object = {}): Promise<ForwardStage> {
  let forwarder = '';
  const stage = await stellarStage(t, { fee_payment_strategy: 'user', ...policies }, {}, async ({ net }) => {
    forwarder = await net.contract('fee-forwarder');
    return { fee_forwarder: forwarder };
  });
  const contracts = await contractsOn(stage);
  const { ask, submit, until, tickUntil, signed, net, server } = stage;
  const build: ForwardStage['build'] = (body) => ask('POST', '/transactions/sponsored/build', body);
  const wanted: ForwardStage['wanted'] = async (user, operation) =>
    (await signed(user, [operation], { signers: [] })).toXdr();
  const consented: ForwardStage['consented'] = async (built, user, change = (entry) => entry) => {
    const entry = change(xdr.SorobanAuthorizationEntry.fromXdr(built.user_auth_entry, 'base64'));
    const { sequence } = await server.getLatestLedger();
    return (await authorizeEntry(entry, user, sequence + 20, net.passphrase)).toXdr('base64');
  };
  return {
    ...stage,
    contracts,
    forwarder,
    build,
    quote: (body) => ask('POST', '/transactions/sponsored/quote', body),
    wanted,
    async built(user, operation, feeToken = contracts.native) {
      const { status, body } = await build({
        transaction_xdr: await wanted(user, operation),
        fee_token: feeToken,
      });
      if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
      return body.data;
    },
    consented,
    async relayed(built, user) {
      const id = await submit({
        transaction_xdr: built.transaction,
        signed_auth_entry: await consented(built, user),
      });
      // Closes no ledger before the node has the transaction, because the built call is valid for a few ledgers only.
      await until(id, ({ status }) => status === 'submitted');
      return tickUntil(id, 'confirmed');
    },
  };
}

/** Replaces the call in a built transaction. */
export function altered(
  { transaction, ...rest }: Built,
  passphrase: string,
  change: (op: xdr.InvokeHostFunctionOp) => xdr.InvokeHostFunctionOp,
): Built {
  const built = TransactionBuilder.fromXdr(transaction, passphrase);
  const envelope = built.toEnvelope();
  if (envelope.type !== 'envelopeTypeTx') throw new Error('a transaction of the second form is built');
  const { tx } = envelope.v1;
  const [operation] = tx.operations;
  if (operation?.body.type !== 'invokeHostFunction') throw new Error('a call of a contract is built');
  const call = change(operation.body.invokeHostFunctionOp);
  const operations = [new xdr.Operation({ sourceAccount: null, body: xdr.OperationBody.invokeHostFunction(call) })];
  const { sourceAccount, fee, seqNum, cond, memo, ext } = tx;
  const other = new xdr.Transaction({ sourceAccount, fee, seqNum, cond, memo, ext, operations });
  const v1 = new xdr.TransactionV1Envelope({ tx: other, signatures: [] });
  return { ...rest, transaction: xdr.TransactionEnvelope.envelopeTypeTx(v1).toXdr('base64') };
}

/** Replaces some of the call's arguments, by their places. */
export function withArgs(op: xdr.InvokeHostFunctionOp, changes: Record<number, xdr.ScVal>): xdr.InvokeHostFunctionOp {
  if (op.hostFunction.type !== 'hostFunctionTypeInvokeContract') throw new Error('a call of a contract');
  const { contractAddress, functionName, args } = op.hostFunction.invokeContract;
  const changed = args.map((arg, place) => changes[place] ?? arg);
  const call = new xdr.InvokeContractArgs({ contractAddress, functionName, args: changed });
  const hostFunction = xdr.HostFunction.hostFunctionTypeInvokeContract(call);
  return new xdr.InvokeHostFunctionOp({ hostFunction, auth: [] });
}
