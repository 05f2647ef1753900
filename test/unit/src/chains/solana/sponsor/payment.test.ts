import {
  createBurnCheckedInstruction,
  createBurnInstruction,
  createTransferCheckedInstruction,
  createTransferInstruction,
} from '@solana/spl-token';
import { PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import t, { type Test } from 'tap';
import { decodeTransaction } from '../../../../../../src/chains/solana/message/transaction.ts';
import { assertPaid } from '../../../../../../src/chains/solana/sponsor/payment.ts';
import type { JsonObject } from '../../../../../../src/domain/json/json.ts';
import { type MarketClient, MarketFailure } from '../../../../../../src/egress/market-client.ts';
import { NO_MARKET } from '../../../../../support/no-market.ts';
import { keyOf, openSolana } from '../../../../../support/solana-node.ts';
import { built, RELAYER, relayerAccount } from '../../../../../support/solana-relayer.ts';
import {
  accountOf,
  DOUBLE_MARKET,
  MINT,
  payTo,
  relayerAddress,
  TOKENS,
  USER,
  userAddress,
} from '../../../../../support/sponsor-scene.ts';
import { tokensAccount } from '../../../../../support/token-accounts.ts';

const UNPAID = { tag: 'INVALID_PARAMS', code: -32_602, message: /doesn't contain required fee payment instruction/ };
const ELSEWHERE = keyOf(60);

const lamports = (amount: number) =>
  SystemProgram.transfer({ fromPubkey: USER.publicKey, toPubkey: RELAYER.publicKey, lamports: amount });

/** The price is 10,000 lamports, or 20,000 of the token. */
async function check(
  t: Test,
  instructions: TransactionInstruction[],
  {
    signers = [USER],
    policies = {},
    accounts = TOKENS,
    market = DOUBLE_MARKET,
  }: { signers?: (typeof USER)[]; policies?: JsonObject; accounts?: typeof TOKENS; market?: MarketClient } = {},
): Promise<void> {
  const { rpc } = await openSolana(t, { accounts, fee: 10_000 });
  const account = relayerAccount({ fee_payment_strategy: 'user', ...policies });
  const transaction = decodeTransaction(built(instructions, { signers }));
  const prices = { market, genesis: 'a chain' };
  await rpc.onOne((read) => assertPaid(read, transaction, { account, prices }));
}

t.test('all that goes to the relayer counts, in SOL and in tokens', async (t) => {
  await t.resolves(check(t, [lamports(10_000)]));
  await t.resolves(check(t, [lamports(4_000), lamports(6_000)]));
  await t.resolves(check(t, [payTo(relayerAddress, 20_000n)]));
  await t.resolves(check(t, [lamports(5_000), payTo(relayerAddress, 4_000n), payTo(relayerAddress, 6_000n)]));
  await t.rejects(check(t, [lamports(9_999)]), UNPAID);
  await t.rejects(check(t, [payTo(relayerAddress, 19_999n)]), UNPAID);
  await t.rejects(check(t, [lamports(5_000), payTo(relayerAddress, 9_999n)]), UNPAID);
  await t.rejects(check(t, [], { signers: [] }), UNPAID);
  await t.resolves(
    check(t, [lamports(10_000), payTo(relayerAddress, 1n)], { market: NO_MARKET }),
    'it is asked no more',
  );
});

t.test('only the relayer’s associated account is paid, there already or made by the transaction', async (t) => {
  const [source, own] = [new PublicKey(accountOf(userAddress)), new PublicKey(ELSEWHERE)];
  const plain = createTransferInstruction(source, own, USER.publicKey, 20_000n);
  await t.rejects(
    check(t, [plain], { accounts: { ...TOKENS, [ELSEWHERE]: tokensAccount(MINT, relayerAddress, 0n) } }),
    UNPAID,
    'who may close it can make it anew as his own',
  );
  await t.rejects(
    check(t, [plain], { accounts: { ...TOKENS, [ELSEWHERE]: tokensAccount(MINT, keyOf(61), 0n) } }),
    UNPAID,
  );
  const { [accountOf(relayerAddress)]: _, ...without } = TOKENS;
  await t.resolves(check(t, [payTo(relayerAddress, 20_000n)], { accounts: without }));
  await t.rejects(check(t, [payTo(userAddress, 20_000n)]), UNPAID);
});

t.test('what leaves the relayer’s own accounts is taken off', async (t) => {
  const accounts = { ...TOKENS, [ELSEWHERE]: tokensAccount(MINT, relayerAddress, 50_000n) };
  const taking = (to: string) =>
    createTransferCheckedInstruction(
      ...([new PublicKey(ELSEWHERE), new PublicKey(MINT), new PublicKey(to), USER.publicKey, 20_000n, 6] as const),
    );
  await t.rejects(check(t, [taking(accountOf(relayerAddress))], { accounts }), UNPAID);
  await t.rejects(check(t, [payTo(relayerAddress, 20_000n), taking(accountOf(userAddress))], { accounts }), UNPAID);
});

t.test('what a permanent delegate takes back in the same transaction is not paid', async (t) => {
  const own = new PublicKey(accountOf(relayerAddress));
  const mint = new PublicKey(MINT);
  const delegate = USER.publicKey;
  const { [own.toBase58()]: _, ...without } = TOKENS;
  const takes = {
    burn: createBurnInstruction(own, mint, delegate, 1n),
    'burn-checked': createBurnCheckedInstruction(own, mint, delegate, 1n, 6),
    transfer: createTransferInstruction(own, new PublicKey(accountOf(userAddress)), delegate, 1n),
  };
  for (const [name, take] of Object.entries(takes)) {
    for (const accounts of [TOKENS, without]) {
      await t.rejects(check(t, [payTo(relayerAddress, 20_000n), take], { accounts }), UNPAID, name);
      await t.resolves(check(t, [payTo(relayerAddress, 20_001n), take], { accounts }), name);
    }
  }
  const others = createBurnInstruction(new PublicKey(accountOf(userAddress)), mint, delegate, 1n);
  await t.resolves(check(t, [payTo(relayerAddress, 20_000n), others]), 'others burn what is theirs');
});

t.test('what the relayer has signed has its price, and other bounds hold', async (t) => {
  await t.resolves(check(t, [payTo(relayerAddress, 1n)], { signers: [RELAYER, USER] }));
  const policies = { allowed_tokens: [{ mint: MINT, max_allowed_fee: 19_999 }] };
  const tooMuch = { code: -32_013, detail: /Fee amount 20000 of \S+ exceeds max allowed fee amount 19999/ };
  await t.rejects(check(t, [payTo(relayerAddress, 20_000n)], { policies }), tooMuch);
  await t.rejects(check(t, [payTo(relayerAddress, 20_000n)], { policies, signers: [RELAYER, USER] }), tooMuch);
  await t.rejects(check(t, [lamports(10_000)], { policies: { max_allowed_fee_lamports: 9_999 } }), { code: -32_013 });
});

t.test('what nobody trades pays nothing, and a market in trouble is no reason to guess', async (t) => {
  const refusing = (failure: MarketFailure) => ({ ...NO_MARKET, get: () => Promise.reject(failure) });
  const untraded = refusing(new MarketFailure('not tradable', { code: 'TOKEN_NOT_TRADABLE' }));
  await t.rejects(check(t, [payTo(relayerAddress, 20_000n)], { market: untraded }), UNPAID);
  const trouble = new MarketFailure('gone');
  await t.rejects(check(t, [payTo(relayerAddress, 20_000n)], { market: refusing(trouble) }), trouble);
});
