import { invalidRequest } from '../../../domain/errors.ts';
import type { WireObject } from '../../../domain/json/json.ts';
import type { MarketClient } from '../../../egress/market-client.ts';
import { type RpcClient, RpcError } from '../../../egress/rpc/rpc-client.ts';
import type { Signer } from '../../../signers/signer.ts';
import type { RelayerAccount } from '../../chain-client.ts';
import { isAddress } from '../address.ts';
import { readPolicy } from '../configuration/policy.ts';
import type { CompiledMessage } from '../message/compiled-message.ts';
import { durableNonceOf } from '../message/durable-nonce.ts';
import { resolveLookupTables } from '../message/lookup-tables.ts';
import { decodeTransaction } from '../message/transaction.ts';
import { judgeCoSigned, judgeForSigning, type SigningRefusal } from '../prepare.ts';
import {
  type CoSignedTransaction,
  readCoSignedTransaction,
  readPartlySignedTransaction,
  readTransaction,
} from '../request.ts';
import type { SolanaRequest } from '../schema.ts';
import { signMessageAs } from '../signing.ts';
import {
  type BuiltTransaction,
  buildPrepared,
  buildTransfer,
  type SponsoredBuildContext,
  type TransferRequest,
} from './build.ts';
import { GaslessRefusal } from './errors.ts';
import { assertPaid } from './payment.ts';

export interface SponsorParts {
  /** The endpoints, as far as they serve an account's chain. */
  sideOf(account: RelayerAccount): RpcClient;
  /** The genesis hash of an account's chain. */
  genesisOf(account: RelayerAccount): Promise<string>;
  market: MarketClient;
}

/** A transaction, and the token in which its user pays. */
export interface SponsoredRequest {
  transaction: string;
  fee_token: string;
}

/**
 * Builds and signs transactions that the relayer pays for and that users pay back. All methods throw `Refusal`.
 * Failures of nodes and of the market are thrown unchanged.
 */
export class Sponsor {
  readonly #parts: SponsorParts;

  constructor(parts: SponsorParts) {
    this.#parts = parts;
  }

  /** What a transaction would cost. */
  async estimate(request: SponsoredRequest, account: RelayerAccount): Promise<WireObject> {
    const { quote } = await this.#prepared(request, account);
    const { asset, lamports, tokens, gross } = quote;
    return {
      estimated_fee: unitsText(gross, asset.decimals),
      conversion_rate: tokensPerSolText(tokens, asset.decimals, lamports),
    };
  }

  /** A transaction with its payment in it, signed by the relayer. */
  async prepare(request: SponsoredRequest, account: RelayerAccount, signer: Signer): Promise<WireObject> {
    return this.#finished(await this.#prepared(request, account), account, signer);
  }

  /** A transfer that the relayer pays for and has signed. */
  async transfer(request: TransferRequest, account: RelayerAccount, signer: Signer): Promise<WireObject> {
    for (const wallet of [request.source, request.destination]) {
      if (!isAddress(wallet))
        throw new GaslessRefusal('params', `${JSON.stringify(wallet.slice(0, 50))} is not an address`);
    }
    if (request.source === account.address) throw new GaslessRefusal('params', 'The relayer cannot pay itself');
    const building = await this.#building(account);
    const built = await this.#parts.sideOf(account).onOne((read) => buildTransfer(read, request, building));
    return this.#finished(built, account, signer);
  }

  /** The relayer's signature for a client's own bytes, which stay as they are. Others may sign after it. */
  async sign(
    base64: string,
    account: RelayerAccount,
    signer: Signer,
  ): Promise<{ transaction: string; signature: string }> {
    const coSigned = readCoSignedTransaction(base64, account);
    if (coSigned !== undefined) return this.#signAsOther(coSigned, account, signer);
    const { message, messageBytes, signatures } = readPartlySignedTransaction(base64, account);
    assertPassing(message, account);
    await this.assertPaid({ transaction: base64 }, account);
    await this.assertSound(base64, account);
    return signMessageAs(account.address, messageBytes, signatures, signer);
  }

  /** The relayer's signature for a transaction that somebody else pays for. */
  async #signAsOther({ transaction, place }: CoSignedTransaction, account: RelayerAccount, signer: Signer) {
    const verdict = await judgeCoSigned(this.#parts.sideOf(account), transaction, account);
    assertSupported(verdict);
    return signMessageAs(account.address, transaction.messageBytes, transaction.signatures, signer, place);
  }

  /**
   * Refuses a transaction that cannot be sent, before it is accepted. Every signer but the relayer must have signed it.
   */
  async assertSendable(base64: string, account: RelayerAccount): Promise<void> {
    readTransaction(base64, account);
    await this.assertSound(base64, { ...account, maySpend: true });
  }

  /**
   * Refuses a transaction that no node will take, as its lookup tables show. Where no node answers, it may be taken.
   */
  async assertLoadable({ transaction: base64 }: SolanaRequest, account: RelayerAccount): Promise<void> {
    if (base64 === undefined) return;
    const { message } = decodeTransaction(base64);
    if (message.lookups.length === 0) return;
    const looked = await this.#parts
      .sideOf(account)
      .onOne((read) => resolveLookupTables(read, message))
      .catch(nothing);
    if (looked?.kind === 'fault' && !looked.mayBeBehind) throw new GaslessRefusal('validation', looked.reason);
  }

  /** Where users pay, refuses a transaction that does not pay enough. */
  async assertPaid({ transaction: base64 }: SolanaRequest, account: RelayerAccount): Promise<void> {
    if (base64 === undefined || readPolicy(account.policies).feePaymentStrategy !== 'user') return;
    const building = await this.#building(account);
    const transaction = decodeTransaction(base64);
    await this.#parts.sideOf(account).onOne((read) => assertPaid(read, transaction, building));
  }

  /** Refuses a transaction that policies, a trial or the balance forbid. */
  async assertSound(base64: string, account: RelayerAccount): Promise<void> {
    assertSupported(await judgeForSigning(this.#parts.sideOf(account), base64, account));
  }

  async #building(account: RelayerAccount): Promise<SponsoredBuildContext> {
    const { market, genesisOf } = this.#parts;
    return { account, prices: { market, genesis: await genesisOf(account) } };
  }

  async #prepared(
    { transaction, fee_token: feeToken }: SponsoredRequest,
    account: RelayerAccount,
  ): Promise<BuiltTransaction> {
    const building = await this.#building(account);
    return this.#parts.sideOf(account).onOne((read) => buildPrepared(read, { transaction, feeToken }, building));
  }

  async #finished(built: BuiltTransaction, account: RelayerAccount, signer: Signer): Promise<WireObject> {
    const { transaction, quote, lastValidBlockHeight } = built;
    // What is built for a user never spends what the relayer holds.
    await this.assertSound(transaction, { ...account, maySpend: false });
    const { message, messageBytes, signatures } = decodeTransaction(transaction);
    assertPassing(message, account);
    const signed = await signMessageAs(account.address, messageBytes, signatures, signer);
    return {
      transaction: signed.transaction,
      fee_in_spl: quote.gross.toString(),
      fee_in_lamports: quote.lamports.toString(),
      fee_token: quote.asset.address,
      valid_until_blockheight: lastValidBlockHeight,
    };
  }
}

function nothing(error: unknown): undefined {
  if (error instanceof RpcError) return undefined;
  throw error;
}

/** @throws Refusal where there is a verdict */
function assertSupported(verdict: SigningRefusal | undefined): void {
  if (verdict !== undefined) throw new GaslessRefusal(verdict.kind, verdict.detail, invalidRequest(verdict.reason));
}

/**
 * Where users pay, refuses to sign under a durable nonce: the signature stays valid for ever, and the price does not. A
 * transaction that the relayer sends is signed at the price of that time.
 */
function assertPassing(message: CompiledMessage, { policies }: RelayerAccount): void {
  if (readPolicy(policies).feePaymentStrategy !== 'user' || durableNonceOf(message) === undefined) return;
  throw new GaslessRefusal(
    'validation',
    'Where users pay, nothing is signed under a durable nonce but what is sent at once',
  );
}

/** An amount in whole units, with as many decimals as it needs and never an exponent. */
export function unitsText(amount: bigint, decimals: number): string {
  const digits = amount.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const part = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return part === '' ? whole : `${whole}.${part}`;
}

const LAMPORTS_PER_SOL = 10n ** 9n;

/**
 * The worth of one SOL in units of a token, by the price of some lamports. A JavaScript number, without an exponent.
 */
export function tokensPerSolText(tokens: bigint, decimals: number, lamports: bigint): string {
  return withoutExponent(Number(tokens * LAMPORTS_PER_SOL) / Number(lamports * 10n ** BigInt(decimals)));
}

function withoutExponent(value: number): string {
  const [digits = '', exponent] = value.toString().split('e');
  if (exponent === undefined) return digits;
  const [whole = '', part = ''] = digits.split('.');
  const point = whole.length + Number(exponent);
  const all = whole + part;
  if (point <= 0) return `0.${'0'.repeat(-point)}${all}`;
  return all.padEnd(point, '0');
}
