import { Keypair } from '@stellar/stellar-sdk';
import type { RelayerAccount } from '../../src/chains/chain-client.ts';
import type { StellarFields } from '../../src/chains/stellar/schema.ts';
import type { JsonObject } from '../../src/domain/json/json.ts';
import { type Attempt, UNACCEPTED_ATTEMPT } from '../../src/features/transactions/records/attempt.ts';
import { newTransaction, type Transaction } from '../../src/features/transactions/records/transaction.ts';

/** The relayer of the tests, and its network. */
export const RELAYER = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 21));
export const PASSPHRASE = 'Isolayer Test Network';

export const relayerAccount = (policies: JsonObject = {}): RelayerAccount => ({
  address: RELAYER.publicKey(),
  policies: { fee_payment_strategy: 'relayer', ...policies },
});

/** A payment of lumens, as clients write it. */
export const lumens = (amount: number | string, destination = RELAYER.publicKey()) => ({
  type: 'payment',
  destination,
  amount,
  asset: { type: 'native' },
});

/** The decided fields of a payment: ledgers up to 1,000 s accept it, and no ledger up to 50 has it. */
export const fieldsOf = (over: Partial<StellarFields> = {}): JsonObject => ({
  passphrase: PASSPHRASE,
  source: RELAYER.publicKey(),
  fee: 100,
  max_time: 1_000,
  ledger: 50,
  ...over,
});

/** A transaction as the engine would have stored it, sent. */
export function storedStellar(over: Partial<Transaction> = {}): Transaction {
  return {
    ...newTransaction({
      id: '00000000-0000-4000-8000-000000000001',
      relayerId: 'relayer',
      networkType: 'stellar',
      lane: `stellar:${PASSPHRASE}:${RELAYER.publicKey()}`,
      createdAt: 1_700_000_000_000,
      validUntil: null,
      request: { operations: [lumens(5)] },
      anchorKind: 'sequence',
      onDeath: 'renew',
      contentKey: null,
    }),
    status: 'submitted',
    sequence: 8n,
    nextActionAt: 0,
    ...over,
  };
}

/** A signed version under sequence 8, as the engine would have stored it. */
export function storedAttempt(hash: string, over: Partial<Attempt> = {}): Attempt {
  const { id: transactionId, lane, request } = storedStellar();
  return {
    transactionId,
    ordinal: 1,
    lane,
    anchor: { kind: 'sequence', sequence: 8n },
    purpose: 'send',
    request,
    fields: fieldsOf({ sequence: 8 }),
    raw: 'AAAA',
    hash,
    createdAt: 1_700_000_000_000,
    ...UNACCEPTED_ATTEMPT,
    ...over,
  };
}
