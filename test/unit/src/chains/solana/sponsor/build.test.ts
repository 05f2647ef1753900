import { SystemProgram } from '@solana/web3.js';
import t, { type Test } from 'tap';
import { readPolicy } from '../../../../../../src/chains/solana/configuration/policy.ts';
import { programsOf } from '../../../../../../src/chains/solana/guard/policies.ts';
import { tokenTransfers } from '../../../../../../src/chains/solana/guard/token-transfers.ts';
import { decodeTransaction } from '../../../../../../src/chains/solana/message/transaction.ts';
import { ASSOCIATED_TOKEN_PROGRAM, SYSTEM_PROGRAM, WRAPPED_SOL } from '../../../../../../src/chains/solana/programs.ts';
import {
  type AskedTransfer,
  assertWithin,
  buildPrepared,
  buildTransfer,
} from '../../../../../../src/chains/solana/sponsor/build.ts';
import { associatedAccount } from '../../../../../../src/chains/solana/tokens/associated.ts';
import type { JsonObject } from '../../../../../../src/domain/json/json.ts';
import { keyOf, type NodeWorld, openSolana } from '../../../../../support/solana-node.ts';
import { built, memo, relayerAccount } from '../../../../../support/solana-relayer.ts';
import {
  accountOf,
  DOUBLE_MARKET,
  MINT,
  relayerAddress,
  TOKENS,
  USER,
  userAddress,
} from '../../../../../support/sponsor-scene.ts';
import { mintAccount, tokensAccount } from '../../../../../support/token-accounts.ts';

const building = (policies: JsonObject) => ({
  account: relayerAccount({ fee_payment_strategy: 'user', ...policies }),
  prices: { market: DOUBLE_MARKET, genesis: 'a chain' },
});

async function prepared(
  t: Test,
  transaction: string,
  policies: JsonObject = {},
  world: NodeWorld = {},
  feeToken = MINT,
) {
  const { rpc } = await openSolana(t, { accounts: TOKENS, fee: 10_000, latest: keyOf(8), ...world });
  const made = await rpc.onOne((read) => buildPrepared(read, { transaction, feeToken }, building(policies)));
  return { ...made, message: decodeTransaction(made.transaction).message };
}

async function moved(t: Test, asked: Partial<AskedTransfer> = {}, policies: JsonObject = {}, world: NodeWorld = {}) {
  const { rpc } = await openSolana(t, { accounts: TOKENS, fee: 10_000, ...world });
  const transfer = { amount: 7n, token: MINT, source: userAddress, destination: keyOf(50), ...asked };
  const made = await rpc.onOne((read) => buildTransfer(read, transfer, building(policies)));
  return { ...made, message: decodeTransaction(made.transaction).message };
}

const OF_USER = built([memo('a', USER)], { payer: USER.publicKey });

t.test('a user’s transaction gets its payment before it, the relayer as payer and a new blockhash', async (t) => {
  const { message, quote, lastValidBlockHeight } = await prepared(t, OF_USER);
  t.match(quote, { lamports: 10_000n, tokens: 20_000n, gross: 20_000n });
  t.strictSame(message.keys.slice(0, 2), [relayerAddress, userAddress]);
  t.equal(message.blockhash, keyOf(8));
  t.ok((lastValidBlockHeight ?? 0n) > 0n);
  t.match(tokenTransfers(message, message.keys), [
    { source: accountOf(userAddress), destination: accountOf(relayerAddress), amount: 20_000n },
  ]);
  t.equal(message.instructions.length, 2);
});

t.test('an account of the relayer’s that is not there is made, and paid for', async (t) => {
  const { [accountOf(relayerAddress)]: _, ...accounts } = TOKENS;
  const { message, quote } = await prepared(t, OF_USER, {}, { accounts });
  t.equal(quote.lamports, 10_000n + BigInt((165 + 128) * 6_960));
  t.equal(programsOf(message)[0], ASSOCIATED_TOKEN_PROGRAM);
});

t.test('the coin is paid without an account', async (t) => {
  const { message, quote } = await prepared(t, OF_USER, {}, {}, SYSTEM_PROGRAM);
  t.match(quote, { lamports: 10_000n, gross: 10_000n });
  t.equal(programsOf(message)[0], SYSTEM_PROGRAM);
});

t.test('where the relayer pays, the transaction stays what it is, for another payer', async (t) => {
  const { message, quote } = await prepared(t, OF_USER, { fee_payment_strategy: 'relayer' });
  t.equal(message.instructions.length, 1);
  t.strictSame(message.keys.slice(0, 2), [relayerAddress, userAddress]);
  t.match(quote, { gross: 20_000n });
});

t.test('under a durable nonce its value stays, behind the advance', async (t) => {
  const advance = SystemProgram.nonceAdvance({ noncePubkey: USER.publicKey, authorizedPubkey: USER.publicKey });
  const { message, lastValidBlockHeight } = await prepared(
    t,
    built([advance, memo('a', USER)], { payer: USER.publicKey }),
  );
  t.equal(message.blockhash, keyOf(7));
  t.equal(lastValidBlockHeight, null);
  t.equal(programsOf(message)[0], SYSTEM_PROGRAM);
});

t.test('a transfer makes the other’s account where it is not there, at the cost of who is paid back', async (t) => {
  const user = await moved(t);
  const [creation] = user.message.instructions.filter(
    ({ program }) => user.message.keys[program] === ASSOCIATED_TOKEN_PROGRAM,
  );
  t.equal(creation?.accounts[0], 0, 'the relayer pays');
  t.match(tokenTransfers(user.message, user.message.keys), [{ amount: user.quote.gross }, { amount: 7n }]);
  const relayer = await moved(t, {}, { fee_payment_strategy: 'relayer' });
  const [other] = relayer.message.instructions;
  t.equal(relayer.message.keys[other?.accounts[0] ?? 0], userAddress);
  t.match(await moved(t, { destination: relayerAddress }), { quote: { lamports: 10_000n } });
});

t.test('what cannot be built is refused with its class', async (t) => {
  const own = built([memo('a')]);
  const dear = { allowed_tokens: [{ mint: MINT, max_allowed_fee: 19_999 }] };
  const poor = {
    accounts: { ...TOKENS, [accountOf(userAddress)]: TOKENS[accountOf(relayerAddress)] ?? TOKENS[MINT] },
  } as NodeWorld;
  await t.rejects(prepared(t, own), { code: -32_602, message: 'The relayer cannot pay itself' });
  await t.rejects(prepared(t, 'AQAB'), { name: 'Error', message: /Malformed transaction/ });
  await t.rejects(prepared(t, OF_USER, dear), { code: -32_013, message: /exceeds max allowed fee amount 19999/ });
  await t.rejects(prepared(t, OF_USER, {}, poor), { code: -32_002, message: /has 0 of/ });
  await t.rejects(prepared(t, OF_USER, { max_signatures: 1 }), { code: -32_013, message: /requires 2 signatures/ });
  await t.rejects(moved(t, { amount: 0n }), { code: -32_013, message: /greater than 0/ });
  await t.rejects(moved(t, { amount: 100_000_000n, destination: relayerAddress }), {
    code: -32_002,
    message: /100020000 are needed/,
  });
  await t.rejects(moved(t, {}, { disallowed_accounts: [keyOf(50)] }), {
    code: -32_013,
    message: /explicitly disallowed/,
  });
});

t.test('a fee in a token stays within what the policies say of it', async (t) => {
  const policy = readPolicy({ allowed_tokens: [{ mint: MINT, max_allowed_fee: 5 }] });
  t.doesNotThrow(() => assertWithin(MINT, 5n, policy));
  t.throws(() => assertWithin(MINT, 6n, policy), /exceeds/);
  t.doesNotThrow(() => assertWithin(keyOf(50), 6n, policy));
});

t.test('where swaps close the account of wrapped SOL, a payment in it makes it anew', async (t) => {
  const ofWrapped = (wallet: string) =>
    associatedAccount(wallet, { address: WRAPPED_SOL, program: TOKENS[accountOf(wallet)]?.owner ?? '' });
  const accounts = {
    ...TOKENS,
    [WRAPPED_SOL]: mintAccount(9),
    [ofWrapped(userAddress)]: tokensAccount(WRAPPED_SOL, userAddress, 100_000_000n),
    [ofWrapped(relayerAddress)]: tokensAccount(WRAPPED_SOL, relayerAddress, 0n),
  };
  const swaps = { allowed_tokens: [{ mint: WRAPPED_SOL }], swap_config: { strategy: 'jupiter-swap' } };
  for (const [policies, makes] of [
    [swaps, true],
    [{ allowed_tokens: swaps.allowed_tokens }, false],
  ] as const) {
    const { message, quote } = await prepared(t, OF_USER, policies, { accounts }, WRAPPED_SOL);
    t.equal(programsOf(message).includes(ASSOCIATED_TOKEN_PROGRAM), makes);
    t.match(quote, { lamports: 10_000n, tokens: 10_000n });
  }
});
