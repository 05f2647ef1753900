/**
 * Each policy of a Solana relayer holds on every path that signs. A real SVM is the judge. The last test fails if a
 * policy or a signing method has no test here.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAssociatedTokenAccountIdempotentInstruction } from '@solana/spl-token';
import {
  AddressLookupTableProgram,
  type Keypair,
  type PublicKey,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { solanaPolicies } from '../../src/chains/solana/configuration/policy.ts';
import { LOCAL_RPC_METHODS } from '../../src/chains/solana/rpc-methods.ts';
import { gaslessStage } from '../support/gasless-stage.ts';
import { onWire } from '../support/solana-relayer.ts';
import { memo } from '../support/solana-stage.ts';
import { anyone } from '../support/svm-scene.ts';

const stage = await gaslessStage(t);
const { connection, relayer, svm, usd } = stage;
const { ask, built, draft, pay, policies, post, refusal, until, user } = stage;

const USD = usd.mint.toBase58();
/** The price of two signatures in tokens. */
const PRICE = 2_000n;

/** By policy: a value that refuses all transactions below, and the expected reason. */
const REFUSALS: Readonly<Record<string, [object, RegExp]>> = {
  allowed_programs: [{ allowed_programs: [SystemProgram.programId.toBase58()] }, /Program \S+ not allowed/],
  allowed_accounts: [{ allowed_accounts: [relayer.toBase58()] }, /Account \S+ not allowed/],
  disallowed_accounts: [{ disallowed_accounts: [usd.program.toBase58()] }, /Account \S+ is explicitly disallowed/],
  max_signatures: [{ max_signatures: 0 }, /Transaction requires \d signatures, which exceeds maximum allowed 0/],
  max_tx_data_size: [{ max_tx_data_size: 100 }, /Transaction size \d+ exceeds maximum allowed 100/],
  max_allowed_fee_lamports: [{ max_allowed_fee_lamports: 4_999 }, /Fee amount \d+ exceeds max allowed fee amount 4999/],
  allowed_tokens: [{ allowed_tokens: [{ mint: anyone().toBase58() }] }, /Token \S+ not allowed for transfers/],
  min_balance: [{ min_balance: 20_000_000_000 }, /Insufficient relayer balance\. Required: \d+, Available: \d+/],
};
/** Policies that apply only where users pay the fees. */
const OF_USERS: Readonly<Record<string, [object, RegExp]>> = {
  'allowed_tokens.max_allowed_fee': [
    { allowed_tokens: [{ mint: USD, max_allowed_fee: 1 }] },
    /Fee amount \d+ of \S+ exceeds max allowed fee amount 1/,
  ],
};

/** The reason why a send is refused, either at once or when the relayer tries it. */
async function refusalOfSend(body: object): Promise<string> {
  const { status, body: answer } = await post(body);
  if (status !== 200) return String(answer.error);
  const told = await until(answer.data.id, (one) => one.status_reason !== undefined);
  await ask('DELETE', `/transactions/${answer.data.id}`);
  return told.status_reason;
}

interface Asked {
  wallet: Keypair;
  transaction: string;
  foreign: { transaction: string; fee_token: string };
  move: object;
}

const refusalOfAsk = async (path: string, body: object) => String((await ask('POST', path, body)).body.error);

/** By name: every path that leads to a signature. */
const PATHS: Readonly<Record<string, (asked: Asked) => Promise<string>>> = {
  prepareTransaction: ({ foreign }) => refusal('prepareTransaction', foreign),
  transferTransaction: ({ move }) => refusal('transferTransaction', move),
  signTransaction: ({ transaction }) => refusal('signTransaction', { transaction }),
  signAndSendTransaction: ({ transaction }) => refusal('signAndSendTransaction', { transaction }),
  'sponsored/build': ({ foreign }) => refusalOfAsk('/transactions/sponsored/build', foreign),
  'sign-transaction': ({ transaction }) => refusalOfAsk('/sign-transaction', { transaction }),
  'transactions, of bytes': ({ transaction }) => refusalOfSend({ transaction }),
};

/** A token payment that also pays the relayer, in the forms that the paths need. */
async function asked(): Promise<Asked> {
  const [wallet, to] = [await user(), anyone()];
  await usd.give(to, 1n);
  const payment = pay(wallet, to, 1_000n);
  return {
    wallet,
    transaction: await built([wallet], pay(wallet, relayer, PRICE), payment),
    foreign: { transaction: await draft(wallet.publicKey, payment), fee_token: USD },
    move: { amount: 1, token: USD, source: wallet.publicKey.toBase58(), destination: to.toBase58() },
  };
}

await usd.give(relayer, 1n);

/** Policies that are checked after the simulation, so the transaction must pass it. */
const AFTER_TRIAL = new Set(['max_allowed_fee_lamports', 'min_balance']);

/** A payment without its owner's signature. The policies refuse it before the simulation could. */
function unsignedPayment(wallet: Keypair) {
  const { accounts, ...call } = onWire(pay(wallet, relayer, 1n));
  return { ...call, accounts: accounts.map((each) => ({ ...each, is_signer: false })) };
}

for (const strategy of ['user', 'relayer'] as const) {
  t.test(`each policy holds wherever something is signed, where the fees are paid by: ${strategy}`, async (t) => {
    const one = await asked();
    for (const [field, [policy, reason]] of Object.entries({ ...REFUSALS, ...(strategy === 'user' ? OF_USERS : {}) })) {
      await policies({ ...policy, fee_payment_strategy: strategy });
      for (const [path, refusing] of Object.entries(PATHS)) t.match(await refusing(one), reason, `${field}: ${path}`);
      if (strategy === 'user') continue;
      const instructions = AFTER_TRIAL.has(field) ? [memo('paid')] : [unsignedPayment(one.wallet)];
      t.match(await refusalOfSend({ instructions }), reason, `${field}: transactions, of instructions`);
    }
  });
}

/**
 * A transaction of version 0, signed by the wallet, with accounts from a lookup table. `twice`: its table has an account
 * that the message has as well.
 */
async function withTable(wallet: Keypair, to: PublicKey, { twice = false } = {}): Promise<string> {
  const key = anyone();
  const meta = Buffer.alloc(56);
  meta.writeUInt32LE(1);
  meta.writeBigUInt64LE(2n ** 64n - 1n, 4);
  const data = Buffer.concat([meta, usd.accountOf(to).toBuffer(), usd.mint.toBuffer()]);
  const owner = AddressLookupTableProgram.programId.toBase58();
  await svm.setAccount(key.toBase58(), { lamports: 10_000_000n, data, owner });
  await svm.tick(2);
  const table = (await connection.getAddressLookupTable(key)).value;
  if (table === null) throw new Error('there is a table');
  const { blockhash: recentBlockhash } = await connection.getLatestBlockhash();
  const instructions = [pay(wallet, to, 1_000n)];
  const message = new TransactionMessage({ payerKey: relayer, recentBlockhash, instructions });
  const transaction = new VersionedTransaction(message.compileToV0Message([table]));
  t.match(transaction.message.addressTableLookups, [{ accountKey: key }]);
  if (twice) {
    const changed = Buffer.concat([data.subarray(0, 56), relayer.toBuffer(), usd.mint.toBuffer()]);
    await svm.setAccount(key.toBase58(), { lamports: 10_000_000n, data: changed, owner });
    await svm.tick(2);
  }
  transaction.sign([wallet]);
  return Buffer.from(transaction.serialize()).toString('base64');
}

/** Asserts the refusal on each path that takes a client's bytes. */
async function refusedFor(t: Test, transaction: string, reason: RegExp): Promise<void> {
  for (const path of ['signTransaction', 'signAndSendTransaction', 'sign-transaction', 'transactions, of bytes']) {
    t.match(await PATHS[path]?.({ transaction } as Asked), reason, path);
  }
}

t.test('accounts that a lookup table names are held against the policies', async (t) => {
  const [wallet, to] = [await user(), anyone()];
  await usd.give(to, 1n);
  const transaction = await withTable(wallet, to);
  const named = usd.accountOf(to).toBase58();
  const paid = { fee_payment_strategy: 'relayer' };
  await policies({ ...paid, disallowed_accounts: [named] });
  await refusedFor(t, transaction, new RegExp(`Account ${named} is explicitly disallowed`));
  const others = [relayer, wallet.publicKey, usd.accountOf(wallet.publicKey), usd.mint, usd.program];
  await policies({ ...paid, allowed_accounts: others.map((key) => key.toBase58()) });
  await refusedFor(t, transaction, new RegExp(`Account ${named} not allowed`));
  await policies({ ...paid, allowed_accounts: [named, ...others.map((key) => key.toBase58())] });
  await stage.tickUntil(await stage.send({ transaction }), 'confirmed');
  t.equal(await usd.held(to), 1_001n);
});

t.test('what loads an account twice is refused at once', async (t) => {
  await policies({ fee_payment_strategy: 'relayer' });
  const transaction = await withTable(await user(), anyone(), { twice: true });
  const { status, body } = await post({ transaction });
  t.match([status, body.error], [400, new RegExp(`Account ${relayer.toBase58()} is loaded twice`)]);
});

t.test('programs that a program calls are held against the policies', async (t) => {
  const [wallet, owner] = [await stage.funded(), anyone()];
  const create = createAssociatedTokenAccountIdempotentInstruction(
    ...([wallet.publicKey, usd.accountOf(owner), owner, usd.mint] as const),
  );
  const transaction = await built([wallet], create);
  const [associated, system, token] = [create.programId, SystemProgram.programId, usd.program].map((key) =>
    key.toBase58(),
  );
  const paid = { fee_payment_strategy: 'relayer' };
  await policies({ ...paid, allowed_programs: [associated, token] });
  await refusedFor(t, transaction, new RegExp(`Program ${system} not allowed`));
  await policies({ ...paid, allowed_programs: [associated, system] });
  await refusedFor(t, transaction, new RegExp(`Program ${token} not allowed`));
  await policies({ ...paid, allowed_programs: [associated, system, token] });
  await stage.tickUntil(await stage.send({ transaction }), 'confirmed');
  t.equal(await usd.held(owner), 0n);
});

const SWAPS = '../slow/solana-scenarios/swaps';
const BOUNDS = 'each token is swapped within its own bounds, and those without an account are passed over';
const PRIORITY = 'priority costs no more than the policies say, whatever the market asks';
const LISTED = 'what is enabled, and which tokens fees can be paid in';

/** By policy: the test that covers it on the SVM, if it is in another file. */
const ELSEWHERE: Readonly<Record<string, [file: string, title: string]>> = {
  fee_payment_strategy: ['solana-gasless', 'a relayer that pays for all asks nobody for anything'],
  own_funds: ['solana-own-funds', 'policies narrow it, or close it'],
  fee_margin_percentage: ['solana-gasless', 'a margin is put on top of the fee'],
  'allowed_tokens.mint': ['solana-gasless', LISTED],
  'allowed_tokens.decimals': ['solana-gasless', LISTED],
  'allowed_tokens.symbol': ['solana-gasless', LISTED],
  'allowed_tokens.swap_config': [SWAPS, BOUNDS],
  'allowed_tokens.swap_config.slippage_percentage': [SWAPS, BOUNDS],
  'allowed_tokens.swap_config.min_amount': [SWAPS, BOUNDS],
  'allowed_tokens.swap_config.max_amount': [SWAPS, BOUNDS],
  'allowed_tokens.swap_config.retain_min_amount': [SWAPS, BOUNDS],
  swap_config: [SWAPS, 'a paused relayer and the strategy noop swap nothing'],
  'swap_config.strategy': [SWAPS, 'a paused relayer and the strategy noop swap nothing'],
  'swap_config.cron_schedule': [SWAPS, 'little SOL and the clock together start one swap, however many instances look'],
  'swap_config.min_balance_threshold': [
    SWAPS,
    'a balance below its threshold is enough, also one that is too small for anything else',
  ],
  'swap_config.jupiter_swap_options': [SWAPS, PRIORITY],
  'swap_config.jupiter_swap_options.priority_level': [SWAPS, PRIORITY],
  'swap_config.jupiter_swap_options.priority_fee_max_lamports': [SWAPS, PRIORITY],
  'swap_config.jupiter_swap_options.dynamic_compute_unit_limit': [SWAPS, PRIORITY],
};

interface Described {
  properties?: Record<string, Described>;
  items?: Described;
  anyOf?: Described[];
}

/** The names of all fields. Nested names come after their parent's name. */
function fieldsOf({ properties = {}, items, anyOf = [] }: Described, within = ''): string[] {
  const own = Object.entries(properties).flatMap(([name, inner]) => [
    `${within}${name}`,
    ...fieldsOf(inner, `${within}${name}.`),
  ]);
  return [...own, ...[...anyOf, ...(items === undefined ? [] : [items])].flatMap((one) => fieldsOf(one, within))];
}

t.test('every policy and every method that signs has a test', async (t) => {
  const tested = [...Object.keys(REFUSALS), ...Object.keys(OF_USERS), ...Object.keys(ELSEWHERE)];
  const described = z.toJSONSchema(solanaPolicies.schema, { io: 'input', unrepresentable: 'any' }) as Described;
  t.strictSame(tested.toSorted(), fieldsOf(described).toSorted());
  for (const [file, title] of Object.values(ELSEWHERE)) {
    const source = readFileSync(join(import.meta.dirname, `${file}.test.ts`), 'utf8');
    t.ok(source.includes(`test('${title}'`), `${file}: ${title}`);
  }
  const signing = [...LOCAL_RPC_METHODS].filter(([, kind]) => kind !== 'answer').map(([name]) => name);
  t.strictSame(
    signing.filter((name) => PATHS[name] === undefined),
    [],
  );
  const gasless = readFileSync(join(import.meta.dirname, 'solana-gasless.test.ts'), 'utf8');
  for (const name of LOCAL_RPC_METHODS.keys()) t.ok(gasless.includes(`rpc('${name}'`), name);
});
