import { PublicKey, SystemProgram, Transaction, TransactionInstruction } from '@solana/web3.js';
import type { Svm, SvmEndpoint } from '../../../../doubles/svm/svm.ts';
import { MEMO } from './marks.ts';
import { LAMPORTS, type SolanaIntention } from './plan.ts';

/** A blockhash and the height of the last block in which it is valid. */
export interface Lease {
  blockhash: string;
  lastValidBlockHeight: number;
}

/** One client in this many takes a finalized blockhash. It expires sooner, and no fork can remove it. */
const FINAL_ONES = 3;

/** Makes the transactions that clients post to the relayers as bytes. */
export class ClientBytes {
  /** Blockhashes by index, only of transactions that a user has signed. */
  readonly leases = new Map<number, Lease>();
  readonly #svm: Pick<Svm, 'airdrop'>;
  readonly #node: Pick<SvmEndpoint, 'rpc'>;
  readonly #funded = new Set<string>();

  constructor(svm: Pick<Svm, 'airdrop'>, node: Pick<SvmEndpoint, 'rpc'>) {
    this.#svm = svm;
    this.#node = node;
  }

  /** A transaction in base64 whose fee payer is the relayer. The relayer's signature is missing. */
  async make(intention: SolanaIntention): Promise<string> {
    const { index, from, transfer, text } = intention;
    const lease = await this.#lease(index);
    const feePayer = new PublicKey(from);
    const transaction = new Transaction({ feePayer, ...lease });
    if (transfer === null) {
      const data = Buffer.from(text ?? '');
      transaction.add(new TransactionInstruction({ programId: new PublicKey(MEMO), keys: [], data }));
    } else {
      const { user, to } = transfer;
      if (intention.kind !== 'pauper') await this.#fund(user.publicKey.toBase58());
      const [fromPubkey, toPubkey] = [user.publicKey, new PublicKey(to)];
      transaction.add(SystemProgram.transfer({ fromPubkey, toPubkey, lamports: LAMPORTS })).partialSign(user);
      this.leases.set(index, lease);
    }
    return transaction.serialize({ requireAllSignatures: false }).toString('base64');
  }

  async #lease(index: number): Promise<Lease> {
    const commitment = index % FINAL_ONES === 0 ? 'finalized' : 'confirmed';
    return ((await this.#node.rpc('getLatestBlockhash', [{ commitment }])) as { value: Lease }).value;
  }

  /** Funds each user once, because rivals share a user. */
  async #fund(user: string): Promise<void> {
    if (this.#funded.has(user)) return;
    this.#funded.add(user);
    await this.#svm.airdrop(user, LAMPORTS);
  }
}
