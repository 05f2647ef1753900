/** Collected tokens become SOL, once, and never for less than the policies allow. */
import {
  AuthorityType,
  createApproveInstruction,
  createAssociatedTokenAccountIdempotentInstruction,
  createSetAuthorityInstruction,
  createTransferInstruction,
  getAssociatedTokenAddressSync,
} from '@solana/spl-token';
import { ComputeBudgetProgram, Keypair, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import t, { type Test } from 'tap';
import type { JsonObject } from '../../../src/domain/json/json.ts';
import { InstanceLeases } from '../../support/instance-leases.ts';
import { SolanaScenario } from '../../support/solana-scenario.ts';
import { startSvmScene } from '../../support/svm-scene.ts';
import { type Lie, openDesk } from '../../support/swap-desk.ts';
import { minutes, notify, reasonOf, refusedSwap, swapEvents, swapsOf } from '../../support/swap-watch.ts';
import { makeToken } from '../../support/token-scene.ts';

const scene = await startSvmScene();
const { svm } = scene;
t.teardown(() => svm.stop());
const [usd, eur] = [await makeToken(scene), await makeToken(scene)];
const desk = await openDesk(t, scene, [usd, eur]);
const { jupiter } = desk;
const [USD, EUR] = [usd, eur].map(({ mint }) => mint.toBase58()) as [string, string];
/** One lamport costs 0.01 of the token's smallest unit. */
for (const mint of [USD, EUR]) jupiter.price(mint, 0.01);

/** As many tokens as fit into one swap. */
const junk = [await makeToken(scene), await makeToken(scene), await makeToken(scene), await makeToken(scene)];

const JUPITER = new PublicKey('JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4');

interface Set {
  strategy?: 'jupiter-swap' | 'jupiter-ultra';
  swap?: JsonObject;
  tokens?: JsonObject[];
  held?: bigint;
  lamports?: bigint;
}

/** A relayer with 1,000,000 units of a token, which are worth 0.1 SOL. */
async function open(t: Test, { strategy = 'jupiter-swap', swap, tokens, held = 1_000_000n, lamports }: Set = {}) {
  const keys = Keypair.generate();
  await usd.give(keys.publicKey, held);
  await desk.serve(keys.publicKey);
  const scenario = await SolanaScenario.open(t, scene, {
    keys,
    market: desk.market,
    ...(lamports === undefined ? {} : { lamports }),
    policies: {
      fee_payment_strategy: 'user',
      allowed_tokens: tokens ?? [{ mint: USD }],
      swap_config: { strategy, cron_schedule: '0 * * * * *', ...swap },
    },
  });
  await notify(scenario);
  t.teardown(() => desk.lie(null));
  return { scenario, wallet: keys.publicKey, lamports: () => scenario.balance().then(BigInt) };
}

/** By strategy: the steps at which the process dies. Other tests cover the engine's own steps. */
const STEPS = {
  'jupiter-swap': ['found', 'written', 'offered', 'observed'],
  'jupiter-ultra': ['written', 'offered', 'noted'],
} as const;

for (const strategy of ['jupiter-swap', 'jupiter-ultra'] as const) {
  t.test(`what was collected becomes SOL by the clock, with ${strategy}`, async (t) => {
    const { scenario, wallet, lamports } = await open(t, { strategy });
    const before = await lamports();
    await scenario.start();
    const [id = ''] = await minutes(scenario);
    await scenario.untilStatus(id, 'confirmed', { mining: true });
    t.equal(await usd.held(wallet), 0n);
    const gained = (await lamports()) - before;
    t.ok(gained > 99_000_000n && gained <= 100_000_000n, `${gained}`);
    t.equal(await scenario.executions(id), 1);
    t.notOk(jupiter.swaps.at(-1)?.['dynamicComputeUnitLimit'], 'unless the policies ask for it');
    t.match(await swapEvents(scenario, id), [
      ['solana_dex', [{ mint: USD, source_amount: 1_000_000, destination_amount: 100_000_000, error: null }]],
    ]);
  });

  t.test(`whenever the process dies, a swap is executed once, with ${strategy}`, async (t) => {
    for (const step of STEPS[strategy]) {
      const { scenario, wallet } = await open(t, { strategy });
      await scenario.start({ diesAt: step });
      await minutes(scenario);
      await scenario.until(`dead at ${step}`, () => scenario.isDead);
      await scenario.start();
      const [id = '', ...others] = (await swapsOf(scenario)).map((one) => one.id);
      await scenario.untilStatus(id, 'confirmed', { mining: true });
      t.equal(await usd.held(wallet), 0n, step);
      t.equal(await scenario.executions(id), 1, step);
      t.equal(others.length, 0, step);
    }
  });

  t.test(`a swap that fails on the chain is failed, and told as failed, with ${strategy}`, async (t) => {
    const { scenario, wallet } = await open(t, { strategy });
    await scenario.start();
    await svm.landLater(2);
    const [id = ''] = await minutes(scenario);
    await scenario.untilStatus(id, 'submitted');
    const vault = await scene.connection.getAccountInfo(desk.vault);
    if (vault === null) throw new Error('the market has a vault');
    const rich = { lamports: BigInt(vault.lamports), data: vault.data, owner: vault.owner.toBase58() };
    const poor = Buffer.from(vault.data);
    poor.writeBigUInt64LE(0n, 64);
    await svm.setAccount(desk.vault.toBase58(), { ...rich, data: poor });
    await svm.landLater(0);
    await scenario.untilStatus(id, 'failed', { mining: true });
    await svm.setAccount(desk.vault.toBase58(), rich);
    t.match(await reasonOf(scenario, id), /Instruction \d+ .*failed/);
    t.equal(await usd.held(wallet), 1_000_000n);
    t.match(await swapEvents(scenario, id), [['solana_dex', [{ mint: USD, destination_amount: 0, error: /failed/ }]]]);
  });

  t.test(`what the market builds to take more is not signed, with ${strategy}`, async (t) => {
    const { scenario, wallet, lamports } = await open(t, { strategy });
    await eur.give(wallet, 500n);
    const before = await lamports();
    await scenario.start();
    for (const [what, lie, reason] of lies(strategy)) {
      desk.lie(lie);
      await refusedSwap(scenario, what, reason);
      t.equal(scenario.signatures, 0, what);
    }
    t.strictSame([await usd.held(wallet), await eur.held(wallet), await lamports()], [1_000_000n, 500n, before]);
  });
}

const thief = Keypair.generate().publicKey;
const UNSIGNED = /^What the market built is not signed: /;

/** Harmful transactions that a market can build, and the reasons why they are not signed. */
function lies(strategy: 'jupiter-swap' | 'jupiter-ultra'): [string, Lie, RegExp][] {
  const isOwn = strategy === 'jupiter-swap';
  const user = (trade: { user: string }) => new PublicKey(trade.user);
  const more =
    (make: (wallet: PublicKey) => TransactionInstruction): Lie =>
    (honest, trade) => [...honest, make(user(trade))];
  const mine = (wallet: PublicKey) => ({ pubkey: wallet, isSigner: true, isWritable: true });
  const known: [string, Lie, RegExp][] = [
    [
      'SOL to somebody',
      more((w) => SystemProgram.transfer(toThief(w))),
      isOwn ? /gives 1{32} the relayer’s accounts/ : /calls 1{32}, which is no part/,
    ],
    ['the account itself', more((w) => SystemProgram.assign({ accountPubkey: w, programId: thief })), UNSIGNED],
    [
      'an unknown program',
      more((w) => new TransactionInstruction({ programId: thief, keys: [mine(w)], data: Buffer.alloc(1) })),
      UNSIGNED,
    ],
    [
      'a call of Jupiter’s that is not known',
      more((w) => new TransactionInstruction({ programId: JUPITER, keys: [mine(w)], data: Buffer.alloc(40) })),
      /in a way that is not known/,
    ],
    [
      'a delegate',
      more((w) => createApproveInstruction(usd.accountOf(w), thief, w, 1n)),
      /gives Tokenkeg\S+ the relayer’s accounts/,
    ],
    [
      'another owner',
      more((w) => createSetAuthorityInstruction(usd.accountOf(w), w, AuthorityType.AccountOwner, thief)),
      UNSIGNED,
    ],
    [
      'another token',
      more((w) => createTransferInstruction(eur.accountOf(w), eur.accountOf(desk.maker.publicKey), w, 1n)),
      /it takes from|another account of the relayer/,
    ],
    [
      'more of the token',
      more((w) => createTransferInstruction(usd.accountOf(w), usd.accountOf(desk.maker.publicKey), w, 1n)),
      /it takes 1000001 of the token, not 1000000/,
    ],
    [
      'an account for somebody else',
      more((w) => createAssociatedTokenAccountIdempotentInstruction(w, usd.accountOf(thief), thief, usd.mint)),
      isOwn ? /gives AToken\S+ the relayer’s accounts/ : /calls AToken\S+, which is no part/,
    ],
    [
      'a program of its own, which could pay in a trial only',
      more((w) => new TransactionInstruction({ programId: usd.mint, keys: [], data: Buffer.from(w.toBytes()) })),
      isOwn ? /Simulation failed/ : /which is no part of a swap/,
    ],
    [
      'rent for many accounts',
      (honest, trade) => [...honest, ...junk.flatMap(({ mint }) => accountFor(user(trade), mint))],
      /it makes 4 accounts that stay/,
    ],
    [
      'a second signer',
      more(() => SystemProgram.transfer({ fromPubkey: thief, toPubkey: thief, lamports: 0 })),
      /2 have to sign it/,
    ],
    [
      'nothing for it',
      (honest) => honest.filter((one) => !paysFrom(one, desk.vault)),
      isOwn ? /Simulation failed/ : /less than/,
    ],
    [
      'SOL for somebody else',
      (honest) => honest.map((one) => (paysFrom(one, desk.vault) ? redirected(one) : one)),
      isOwn ? /Simulation failed/ : /less than/,
    ],
  ];
  if (isOwn) return known;
  const dear: Lie = (honest) => [
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 30_000_000 }),
    ...honest.slice(2),
  ];
  return [...known, ['a price for priority beyond all bounds', dear, /Fee amount \d+ exceeds|less than/]];
}

function accountFor(wallet: PublicKey, mint: PublicKey) {
  const account = getAssociatedTokenAddressSync(mint, wallet);
  return createAssociatedTokenAccountIdempotentInstruction(wallet, account, wallet, mint);
}

function toThief(from: PublicKey) {
  return { fromPubkey: from, toPubkey: thief, lamports: 1_000_000 };
}

function paysFrom({ keys }: TransactionInstruction, account: PublicKey): boolean {
  return keys[0]?.pubkey.equals(account) === true;
}

function redirected(one: TransactionInstruction): TransactionInstruction {
  const keys = one.keys.map((key, index) => (index === 2 ? { ...key, pubkey: desk.vault } : key));
  return new TransactionInstruction({ programId: one.programId, data: one.data, keys });
}

t.test('priority costs no more than the policies say, whatever the market asks', async (t) => {
  const priority = { priority_level: 'high', priority_fee_max_lamports: 20_000 };
  const options = { jupiter_swap_options: { ...priority, dynamic_compute_unit_limit: true } };
  const { scenario } = await open(t, { swap: options });
  desk.lie((honest) => [
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 100_000_000_000 }),
    ...honest.slice(2),
  ]);
  await scenario.start();
  const [id = ''] = await minutes(scenario);
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  const fee = Number((await scenario.get(id)).fields['fee']);
  t.ok(fee > 5_000 && fee <= 25_000, `${fee}`);
  t.match(jupiter.swaps.at(-1), { dynamicComputeUnitLimit: true });
});

t.test('each token is swapped within its own bounds, and those without an account are passed over', async (t) => {
  const gone = await makeToken(scene);
  const bounds = { min_amount: 100, max_amount: 600_000, retain_min_amount: 300_000, slippage_percentage: 0.5 };
  const tokens = [
    { mint: gone.mint.toBase58() },
    { mint: Keypair.generate().publicKey.toBase58() },
    { mint: 'So11111111111111111111111111111111111111112' },
    { mint: USD, swap_config: bounds },
    { mint: EUR, swap_config: { min_amount: 501 } },
  ];
  const { scenario, wallet } = await open(t, { tokens });
  await eur.give(wallet, 500n);
  await scenario.start();
  const [id = ''] = await minutes(scenario);
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await usd.held(wallet), 400_000n);
  t.equal((await swapsOf(scenario)).length, 1);
  t.ok(jupiter.requests.some((one) => one.includes(`inputMint=${USD}`) && one.includes('slippageBps=50&')));

  const again = await minutes(scenario, 2);
  await scenario.untilStatus(again, 'confirmed', { mining: true });
  t.equal(await usd.held(wallet), 300_000n, 'what is to stay stays');
});

t.test('little SOL and the clock together start one swap, however many instances look', async (t) => {
  const { scenario, wallet } = await open(t, { swap: { min_balance_threshold: 20_000_000_000 } });
  const instances = new InstanceLeases(60_000);
  for (let more = 0; more < 3; more += 1) await scenario.start({ store: instances.storeFor(scenario.store) });
  const [id = ''] = await minutes(scenario);
  for (let more = 0; more < 3; more += 1) {
    scenario.pass(60_000);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  t.equal((await swapsOf(scenario)).length, 1);
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.equal(await usd.held(wallet), 0n);
  t.equal(await scenario.executions(id), 1);
});

t.test('a balance below its threshold is enough, also one that is too small for anything else', async (t) => {
  const swap = { cron_schedule: null, min_balance_threshold: 100_000_000 };
  const { scenario, lamports } = await open(t, { swap, lamports: 5_000_000n });
  await scenario.start();
  await scenario.until('a swap', async () => (await swapsOf(scenario)).length > 0);
  const [{ id } = { id: '' }] = await swapsOf(scenario);
  await scenario.untilStatus(id, 'confirmed', { mining: true });
  t.ok((await lamports()) > 100_000_000n);
});

t.test('while the market does not answer a swap waits, and says so', async (t) => {
  const { scenario } = await open(t);
  jupiter.price(USD, null);
  t.teardown(() => jupiter.price(USD, 0.01));
  await scenario.start();
  const [id = ''] = await minutes(scenario);
  await scenario.until('waits', async () => /not tradable/.test(await reasonOf(scenario, id)));
  t.equal(scenario.signatures, 0);
  jupiter.fail('silence');
  scenario.pass(10_000);
  await scenario.until('it is late', async () => /no answer within|timed out|time/.test(await reasonOf(scenario, id)));
  jupiter.fail(null);
  jupiter.price(USD, 0.01);
  scenario.pass(10_000);
  await scenario.untilStatus(id, 'confirmed', { mining: true });
});

t.test('a paused relayer and the strategy noop swap nothing', async (t) => {
  const { scenario } = await open(t, { swap: { strategy: 'noop' } });
  await scenario.start();
  const other = await open(t);
  await other.scenario.store.write(async (writer) => {
    const relayer = await writer.relayer('r1');
    if (relayer !== undefined) await writer.putRelayer({ ...relayer, paused: true });
  });
  await other.scenario.start();
  const asked = jupiter.requests.length;
  for (const { scenario: one } of [{ scenario }, other]) {
    for (let more = 0; more < 3; more += 1) {
      one.pass(60_000);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    t.equal((await swapsOf(one)).length, 0);
  }
  t.equal(jupiter.requests.length, asked);
});
