import { Account, Asset, type Keypair, Operation, TransactionBuilder } from '@stellar/stellar-sdk';
import type { StellarEndpoint, StellarNet } from '../../../../doubles/stellar/stellar-net.ts';
import { STROOPS, type StellarIntention } from './plan.ts';
import { sequenceOf } from './sequence-of.ts';

/** Initial balance of a receiver, in stroops: two base reserves of half a lumen, and one lumen more. */
export const RECEIVER_FUNDS = 20_000_000n;
/** The range of times for which users' transactions are valid, in seconds. */
const LIFE_S = [10, 19] as const;
/** The highest fee of a fee bump, in stroops. Higher than every bid of a crowd in the schedule of faults. */
const BUMP_FEE = 200_000;

/** Makes the request bodies of clients, and funds the accounts that they need. */
export class ClientBytes {
  /** By index: when users' transactions become invalid, in milliseconds since the epoch. */
  readonly ends = new Map<number, number>();
  readonly #net: Pick<StellarNet, 'fund' | 'passphrase'>;
  readonly #node: Pick<StellarEndpoint, 'rpc'>;
  readonly #native: string;
  readonly #users = new Map<string, Promise<bigint>>();

  constructor(net: Pick<StellarNet, 'fund' | 'passphrase'>, node: Pick<StellarEndpoint, 'rpc'>, native: string) {
    this.#net = net;
    this.#node = node;
    this.#native = native;
  }

  /** The body of a send request. */
  async make(intention: StellarIntention): Promise<Readonly<Record<string, unknown>>> {
    const { kind, to } = intention;
    if (kind !== 'stray' && kind !== 'broken call') await this.#net.fund(to, RECEIVER_FUNDS);
    const payment = { type: 'payment', destination: to, amount: String(STROOPS), asset: { type: 'native' } };
    switch (kind) {
      case 'payment':
      case 'stray':
        return { network: 'local', operations: [payment] };
      case 'call':
      case 'broken call':
        return { network: 'local', operations: [this.#call(intention)] };
      case 'envelope':
        return { network: 'local', transaction_xdr: this.#unsigned(intention) };
      case 'bump':
      case 'pauper':
      case 'rival':
        return { network: 'local', transaction_xdr: await this.#bytes(intention), fee_bump: true, max_fee: BUMP_FEE };
      default:
        return kind satisfies never;
    }
  }

  #call({ kind, from, to }: StellarIntention): object {
    return {
      type: 'invoke_contract',
      contract_address: this.#native,
      function_name: kind === 'call' ? 'transfer' : 'squander',
      args: [{ address: from }, { address: to }, { i128: { hi: 0, lo: String(STROOPS) } }],
    };
  }

  #unsigned({ from, to }: StellarIntention): string {
    return this.#builder(from, 0n, to).setTimeout(0).build().toXdr();
  }

  async #bytes(intention: StellarIntention): Promise<string> {
    const { index, kind, user, to } = intention;
    if (user === null) throw new Error('a fee bump is around what a user has signed');
    const used = await this.#sequenceOf(user, kind);
    const [least, most] = LIFE_S;
    const end = Math.floor(Date.now() / 1_000) + least + ((index * 7) % (most - least));
    this.ends.set(index, end * 1_000);
    const builder = this.#builder(user.publicKey(), used, to);
    const transaction = builder.setTimebounds(0, end).build();
    transaction.sign(user);
    return transaction.toXdr();
  }

  /** The last used sequence of a user. Funds each user once, because rivals share a user. */
  #sequenceOf(user: Keypair, kind: StellarIntention['kind']): Promise<bigint> {
    const address = user.publicKey();
    const known = this.#users.get(address) ?? this.#join(address, kind);
    this.#users.set(address, known);
    return known;
  }

  async #join(address: string, kind: StellarIntention['kind']): Promise<bigint> {
    // Two base reserves of 5,000,000 stroops cannot be spent, so a pauper has nothing to pay with.
    await this.#net.fund(address, kind === 'pauper' ? 10_000_000n : 10_000_000n + 2n * STROOPS);
    return sequenceOf(this.#node, address);
  }

  #builder(source: string, used: bigint, to: string): TransactionBuilder {
    const account = new Account(source, String(used));
    const amount = `0.${String(STROOPS).padStart(7, '0')}`;
    return new TransactionBuilder(account, { fee: '100', networkPassphrase: this.#net.passphrase }).addOperation(
      Operation.payment({ destination: to, asset: Asset.native(), amount }),
    );
  }
}
