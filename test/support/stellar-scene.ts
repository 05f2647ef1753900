import {
  Account,
  authorizeEntry,
  BASE_FEE,
  FeeBumpTransaction,
  Keypair,
  rpc,
  type Transaction,
  TransactionBuilder,
  xdr,
} from '@stellar/stellar-sdk';
import type { StellarOptions } from '../doubles/stellar/control.ts';
import { type StellarNet, startStellar } from '../doubles/stellar/stellar-net.ts';

/** A Stellar network that changes only when told to, with Stellar's public client. */
export interface StellarScene {
  readonly net: StellarNet;
  readonly server: rpc.Server;
  /** An account with 100 lumens, or so many stroops. */
  funded(stroops?: bigint): Promise<Keypair>;
  /** A transaction on the account's next sequence, signed by its key. */
  signed(source: Keypair, operations: readonly xdr.Operation[], how?: How): Promise<Transaction>;
  /** A fee bump around it, for exactly so many stroops, signed by its payer. */
  bumped(inner: Transaction, payer: Keypair, fee: bigint): FeeBumpTransaction;
  /** Sends a transaction. Returns its status, or for an error the code of its result. */
  send(transaction: Transaction | FeeBumpTransaction): Promise<string>;
  /** Sends a transaction and closes a ledger. Returns the result. */
  land(transaction: Transaction | FeeBumpTransaction): Promise<xdr.TransactionResult>;
  balanceOf(key: string): Promise<bigint>;
  sequenceOf(key: string): Promise<bigint>;
}

/** Options of a transaction, beside its operations. */
export interface How {
  fee?: string;
  /** The sequence; absent: the account's next. */
  sequence?: bigint;
  /** Changes the builder before it builds. */
  with?: (builder: TransactionBuilder) => unknown;
  /** The signers; absent: the source's own key. */
  signers?: readonly Keypair[];
  passphrase?: string;
}

export const LUMEN = 10_000_000n;

export async function startStellarScene(options: StellarOptions = {}): Promise<StellarScene> {
  const net = await startStellar({ ledgerMs: 0, ...options });
  const server = new rpc.Server(net.url, { allowHttp: true });
  const entryOf = async (key: string) => server.getAccountEntry(key);
  const send = async (transaction: Transaction | FeeBumpTransaction) => {
    const { status, errorResult } = await server.sendTransaction(transaction);
    return errorResult === undefined ? status : codeOf(errorResult);
  };
  return {
    net,
    server,
    send,
    async funded(stroops = 100n * LUMEN) {
      const keypair = Keypair.random();
      await net.fund(keypair.publicKey(), stroops);
      return keypair;
    },
    async signed(source, operations, how = {}) {
      const sequence = how.sequence ?? (await entryOf(source.publicKey())).seqNum + 1n;
      const account = new Account(source.publicKey(), String(sequence - 1n));
      const networkPassphrase = how.passphrase ?? net.passphrase;
      const builder = new TransactionBuilder(account, { fee: how.fee ?? BASE_FEE, networkPassphrase });
      for (const operation of operations) builder.addOperation(operation);
      // The chain's clock is ahead of this clock by five seconds for each requested ledger.
      if (how.with === undefined) builder.setTimeout(3_600);
      else how.with(builder);
      const transaction = builder.build();
      transaction.sign(...(how.signers ?? [source]));
      return transaction;
    },
    bumped(inner, payer, fee) {
      const tx = new xdr.FeeBumpTransaction({
        feeSource: payer.xdrMuxedAccount(),
        fee,
        innerTx: xdr.FeeBumpTransactionInnerTx.envelopeTypeTx(v1Of(inner)),
        ext: xdr.FeeBumpTransactionExt.v0(),
      });
      const envelope = new xdr.FeeBumpTransactionEnvelope({ tx, signatures: [] });
      const bump = new FeeBumpTransaction(xdr.TransactionEnvelope.envelopeTypeTxFeeBump(envelope), net.passphrase);
      bump.sign(payer);
      return bump;
    },
    async land(transaction) {
      const status = await send(transaction);
      if (status !== 'PENDING') throw new Error(`The transaction was not taken in: ${status}.`);
      await net.tick();
      const told = await server.getTransaction(Buffer.from(transaction.hash()).toString('hex'));
      if (told.status === rpc.Api.GetTransactionStatus.NOT_FOUND) throw new Error('The ledger has not taken it.');
      return told.resultXdr;
    },
    balanceOf: async (key) => (await entryOf(key)).balance,
    sequenceOf: async (key) => (await entryOf(key)).seqNum,
  };
}

/**
 * The account that consents to a call, the sender of the call, and the number of ledgers for which the consent is
 * valid.
 */
export interface Consent {
  owner: Keypair;
  sender: Keypair;
  ledgers: number;
}

/** The consent that the owner signs, so that another account may send the call. */
export async function consentsTo(
  { net, server, signed }: StellarScene,
  operation: xdr.Operation,
  { owner, sender, ledgers }: Consent,
): Promise<xdr.SorobanAuthorizationEntry[]> {
  const found = await server.simulateTransaction(await signed(sender, [operation], { signers: [] }));
  if (!rpc.Api.isSimulationSuccess(found)) throw new Error(found.error);
  const last = found.latestLedger + ledgers;
  return Promise.all((found.result?.auth ?? []).map((entry) => authorizeEntry(entry, owner, last, net.passphrase)));
}

function v1Of(transaction: Transaction): xdr.TransactionV1Envelope {
  const envelope = transaction.toEnvelope();
  if (envelope.type !== 'envelopeTypeTx') throw new Error('Only a transaction of the second form can be bumped.');
  return envelope.v1;
}

/**
 * The code of a result, with the codes of a fee bump's inner transaction and of failed operations:
 * `txFailed opBadAuth`.
 */
export function codeOf({ result }: xdr.TransactionResult): string {
  if (result.type === 'txFeeBumpInnerFailed') return `${result.type} ${codesOf(result.innerResultPair.result.result)}`;
  return codesOf(result);
}

function codesOf(result: xdr.TransactionResultResult | xdr.InnerTransactionResultResult): string {
  if (result.type !== 'txFailed') return result.type;
  const codes = result.results.map((one) => (one.type === 'opInner' ? one.tr.value.type : one.type));
  return [result.type, ...codes].join(' ');
}
