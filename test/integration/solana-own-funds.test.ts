/**
 * What a Solana relayer holds leaves its account only by its own transactions: those that nobody else signs, asked for
 * with the right to send. The public client asks, and the SVM counts.
 */
import { Configuration, RelayersApi } from '@openzeppelin/relayer-sdk';
import { createAssociatedTokenAccountIdempotentInstruction, createTransferInstruction } from '@solana/spl-token';
import { Keypair, PublicKey, SystemProgram, Transaction, TransactionInstruction } from '@solana/web3.js';
import t from 'tap';
import { memo, onWire } from '../support/solana-relayer.ts';
import { solanaStage } from '../support/solana-stage.ts';
import { anyone } from '../support/svm-scene.ts';
import { makeToken } from '../support/token-scene.ts';

const FEE = 5_000;
const CALLS = `export async function handler({ api, params: { send, sign, rpc } }) {
  const relayer = api.useRelayer('local-1');
  if (send !== undefined) return relayer.sendTransaction(send);
  if (sign !== undefined) return relayer.signTransaction(sign);
  return relayer.rpc({ jsonrpc: '2.0', id: 1, ...rpc });
}
`;
const plugin = (id: string, permission: unknown) => ({
  id,
  path: 'calls.ts',
  permissions: { relayers: { 'local-1': permission } },
});
const PAID = anyone();
const RENT = 2_039_280;

const stage = await solanaStage(
  t,
  {},
  {
    accounts: 2,
    pluginFiles: { 'calls.ts': CALLS },
    plugins: [
      plugin('signs', ['sign', 'rpc', 'read']),
      plugin('does', ['sign', 'rpc', 'send']),
      plugin('budget', { methods: ['send', 'rpc'], value_per_hour: 1_000_000 + RENT }),
      plugin('fees', { methods: ['send'], fee_per_hour: 1_000_000 }),
      plugin('payer', { methods: ['send'], recipients: [PAID.toBase58()], value_per_call: 1_000_000 }),
    ],
  },
);
const { service, relayer, connection, svm, ask, send, until, tickUntil, built } = stage;
const clientFor = (accessToken: string) => new RelayersApi(new Configuration({ basePath: service.url, accessToken }));
const sdk = clientFor(service.apiKey);
const ID = 'local-1';
const usd = await makeToken(stage);
await usd.give(relayer, 1_000n);

const lamportsTo = (to: PublicKey, lamports: number, from = relayer) =>
  SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports });
const tokensTo = (to: PublicKey, amount: number) =>
  createTransferInstruction(usd.accountOf(relayer), usd.accountOf(to), relayer, amount);
const accountFor = (owner: PublicKey, payer = relayer) =>
  createAssociatedTokenAccountIdempotentInstruction(payer, usd.accountOf(owner), owner, usd.mint);
const bodyOf = (answer: { data: unknown }) => (answer.data as { data: Record<string, unknown> }).data;
const reasonOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'taken',
    ({ response }: { response: { data: { error: string } } }) => response.data.error,
  );
const policies = async (set: object) => {
  const unset = { own_funds: null, min_balance: null, allowed_programs: null, allowed_accounts: null };
  const all = { ...unset, disallowed_accounts: null, allowed_tokens: null, max_allowed_fee_lamports: null, ...set };
  t.equal((await ask('PATCH', '', { policies: all })).status, 200);
};
const landed = async (signed: string) => {
  await connection.sendRawTransaction(Buffer.from(signed, 'base64'));
  await svm.tick(2);
};

t.test('the public client spends SOL, tokens and rent, in every form of sending', async (t) => {
  const steps = (to: PublicKey) => [lamportsTo(to, 1_000_000), accountFor(to), tokensTo(to, 7)];
  const ways: Record<string, (to: PublicKey) => Promise<string>> = {
    instructions: async (to) =>
      String(bodyOf(await sdk.sendTransaction(ID, { instructions: steps(to).map(onWire) }))['id']),
    transaction: async (to) =>
      String(bodyOf(await sdk.sendTransaction(ID, { transaction: await built([], ...steps(to)) }))['id']),
    signAndSendTransaction: async (to) => {
      const params = { transaction: await built([], ...steps(to)) };
      const { data } = await sdk.rpc(ID, { jsonrpc: '2.0', id: 1, method: 'signAndSendTransaction', params });
      return (data as unknown as { result: { id: string } }).result.id;
    },
  };
  for (const [way, sent] of Object.entries(ways)) {
    const [to, before] = [anyone(), await connection.getBalance(relayer)];
    await tickUntil(await sent(to), 'confirmed');
    t.equal(await connection.getBalance(to), 1_000_000, way);
    t.equal(await usd.held(to), 7n, way);
    t.equal(await connection.getBalance(relayer), before - 1_000_000 - RENT - FEE, way);
  }
});

t.test('what it signs without sending may spend as well, where the caller may send', async (t) => {
  const to = anyone();
  await usd.give(to, 1n);
  const transaction = await built([], tokensTo(to, 3));
  await landed(String(bodyOf(await sdk.signTransaction(ID, { transaction }))['transaction']));
  t.equal(await usd.held(to), 4n);
  const params = { transaction: await built([], tokensTo(to, 5)) };
  const { data } = await sdk.rpc(ID, { jsonrpc: '2.0', id: 1, method: 'signTransaction', params });
  await landed((data as unknown as { result: { transaction: string } }).result.transaction);
  t.equal(await usd.held(to), 9n);
});

t.test('a relayer signs as the user of another relayer, which pays', async (t) => {
  const path = '/api/v1/relayers/local-2';
  const user = { policies: { fee_payment_strategy: 'user', own_funds: null } };
  t.equal((await service.request('PATCH', path, user)).status, 200);
  const sponsor = new PublicKey((await service.request('GET', path)).body.data.address);
  await svm.airdrop(sponsor.toBase58(), 1_000_000_000n);
  await svm.tick(3);
  const enabled = async () => (await service.request('GET', `${path}/status`)).body.data.system_disabled === false;
  // The runner ends what never comes: how soon a relayer is checked again depends on the machine.
  while (!(await enabled())) await new Promise((done) => setTimeout(done, 50));

  const to = anyone();
  await usd.give(to, 1n);
  const draft = new Transaction({ feePayer: relayer, ...(await connection.getLatestBlockhash()) });
  const transaction = draft.add(tokensTo(to, 11)).serialize({ requireAllSignatures: false }).toString('base64');
  const asked = { transaction, fee_token: SystemProgram.programId.toBase58() };
  const built = bodyOf(await sdk.buildSponsoredTransaction('local-2', asked));
  const signed = bodyOf(await sdk.signTransaction(ID, { transaction: String(built['transaction']) }));
  const complete = Transaction.from(Buffer.from(String(signed['transaction']), 'base64'));
  t.ok(complete.verifySignatures());
  const id = bodyOf(await sdk.sendTransaction('local-2', { transaction: String(signed['transaction']) }))['id'];
  for (;;) {
    const { status, status_reason: reason } = (await service.request('GET', `${path}/transactions/${id}`)).body.data;
    if (status === 'failed') t.fail(reason);
    if (status === 'confirmed' || status === 'failed') break;
    await svm.tick();
    await new Promise((done) => setTimeout(done, 50));
  }
  t.equal(await usd.held(to), 12n);

  const bytes = String(built['transaction']);
  for (const [set, reason] of [
    [{ own_funds: 'deny' }, /Fee payer \S+ does not match relayer address/],
    [{ allowed_programs: [SystemProgram.programId.toBase58()] }, /Program \S+ not allowed/],
    [{ disallowed_accounts: [usd.accountOf(to).toBase58()] }, /Account \S+ is explicitly disallowed/],
    [{ allowed_tokens: [{ mint: anyone().toBase58() }] }, /Token \S+ not allowed/],
  ] as const) {
    await policies(set);
    t.match(await reasonOf(sdk.signTransaction(ID, { transaction: bytes })), reason);
  }
  await policies({});
  const strangers = await service.request('POST', `/api/v1/relayers/${ID}/sign-transaction`, {
    transaction: new Transaction({ feePayer: sponsor, ...(await connection.getLatestBlockhash()) })
      .add(memo('not its own'))
      .serialize({ requireAllSignatures: false })
      .toString('base64'),
  });
  t.match(strangers.body.error, /Fee payer \S+ does not match relayer address/, 'only where it has to sign');
});

t.test('policies narrow it, or close it', async (t) => {
  const to = anyone();
  await usd.give(to, 1n);
  const refused = async (instruction: TransactionInstruction, reason: RegExp) => {
    const transaction = await built([], instruction);
    t.match(await reasonOf(sdk.sendTransaction(ID, { transaction })), reason);
    t.match(await reasonOf(sdk.sendTransaction(ID, { instructions: [onWire(instruction)] })), reason);
    t.match(await reasonOf(sdk.signTransaction(ID, { transaction })), reason);
  };
  await policies({ own_funds: 'deny' });
  t.match((await ask('GET', '')).body.data.policies, { own_funds: 'deny' });
  await refused(lamportsTo(to, 1_000_000), /Lamports transfers are not allowed from the relayer account/);
  await refused(tokensTo(to, 1), /names the relayer account as account 3/);
  await refused(accountFor(anyone()), /names the relayer account as account 1/);
  await policies({ allowed_programs: [SystemProgram.programId.toBase58()] });
  await refused(tokensTo(to, 1), /Program \S+ not allowed/);
  await tickUntil(await send({ transaction: await built([], lamportsTo(to, 1_000_000)) }), 'confirmed');
  const accounts = [relayer, SystemProgram.programId, PAID].map((key) => key.toBase58());
  await policies({ allowed_accounts: accounts });
  await refused(lamportsTo(to, 1_000_000), /Account \S+ not allowed/);
  await tickUntil(await send({ transaction: await built([], lamportsTo(PAID, 1_000_000)) }), 'confirmed');
  await policies({ disallowed_accounts: [to.toBase58()] });
  await refused(lamportsTo(to, 1_000_000), /is explicitly disallowed/);
  const wrong = await ask('PATCH', '', { policies: { fee_payment_strategy: 'user', own_funds: 'allow' } });
  t.match([wrong.status, wrong.body.error], [400, /own_funds/]);
  await policies({});
});

t.test('where anybody else has to sign, the relayer loses only the fee, as before', async (t) => {
  const other = await stage.funded();
  const cases: [TransactionInstruction[], RegExp][] = [
    [[lamportsTo(PAID, 1_000_000)], /Lamports transfers are not allowed from the relayer account/],
    [[tokensTo(PAID, 1)], /names the relayer account as account 3/],
    [[accountFor(PAID)], /names the relayer account as account 1/],
  ];
  for (const [instructions, reason] of cases) {
    const transaction = await built([other], ...instructions, memo('with me', other));
    t.match(await reasonOf(sdk.sendTransaction(ID, { transaction })), reason);
    t.match(await reasonOf(sdk.signTransaction(ID, { transaction })), reason);
    for (const method of ['signTransaction', 'signAndSendTransaction']) {
      const { data } = await sdk.rpc(ID, { jsonrpc: '2.0', id: 1, method, params: { transaction } });
      t.match(data, { error: { description: reason } }, method);
    }
  }
});

t.test('what is built for a user does not spend what the relayer holds', async (t) => {
  for (const instruction of [lamportsTo(PAID, 1_000_000), tokensTo(PAID, 1)]) {
    const params = { transaction: await built([], instruction), fee_token: SystemProgram.programId.toBase58() };
    const { data } = await sdk.rpc(ID, { jsonrpc: '2.0', id: 1, method: 'prepareTransaction', params });
    t.match(data, { error: { description: /Policy violation/ } });
  }
});

t.test('nothing ends the account itself', async (t) => {
  const programId = PublicKey.unique();
  for (const instruction of [
    SystemProgram.assign({ accountPubkey: relayer, programId }),
    SystemProgram.allocate({ accountPubkey: relayer, space: 8 }),
  ]) {
    const transaction = await built([], instruction);
    const reason = /would make the relayer account unusable/;
    t.match(await reasonOf(sdk.sendTransaction(ID, { transaction })), reason);
    t.match(await reasonOf(sdk.signTransaction(ID, { transaction })), reason);
  }
});

t.test(
  'min_balance stays, a payment that the account cannot make waits, and all of it may leave at last',
  async (t) => {
    const held = await connection.getBalance(relayer);
    const id = await send({ instructions: [onWire(lamportsTo(PAID, held - 1_000_000))] });
    const { status_reason: reason } = await until(id, (one) => one.status_reason !== undefined);
    t.match(reason, /Insufficient relayer balance\. Required: \d+, Available: \d+/);
    await svm.airdrop(relayer.toBase58(), 20_000_000n);
    await tickUntil(id, 'confirmed');

    const first = await connection.getBalance(relayer);
    t.ok(first >= 10_000_000);
    await svm.airdrop(relayer.toBase58(), 10_000_000_000n);
    await svm.tick(3);
    await policies({ min_balance: 0 });
    const all = (await connection.getBalance(relayer)) - FEE;
    await tickUntil(await send({ transaction: await built([], lamportsTo(PAID, all)) }), 'confirmed');
    t.equal(await connection.getBalance(relayer), 0);
    await svm.airdrop(relayer.toBase58(), 10_000_000_000n);
    await svm.tick(3);
    await policies({});
  },
);

t.test('two payments do not count on the same money', async (t) => {
  const held = await connection.getBalance(relayer);
  const half = Math.floor(held * 0.6);
  const one = await send({ instructions: [onWire(lamportsTo(PAID, half))] });
  const other = await send({ instructions: [onWire(lamportsTo(PAID, half + 1))] });
  await tickUntil(one, 'confirmed');
  const { status_reason: reason, signature } = await until(other, (told) => told.status_reason !== undefined);
  t.match([reason, signature], [/Insufficient relayer balance/, undefined]);
  await ask('DELETE', `/transactions/${other}`);
  await svm.airdrop(relayer.toBase58(), 10_000_000_000n);
  await svm.tick(3);
});

t.test('a key that may sign and not send spends nothing', async (t) => {
  const keyFor = async (...permissions: string[]) =>
    clientFor((await service.request('POST', '/api/v1/api-keys', { name: 'scoped', permissions })).body.data.key);
  const [signs, both, sends] = [
    await keyFor(`relayers:${ID}:sign`, `relayers:${ID}:rpc`),
    await keyFor(`relayers:${ID}:sign`, `relayers:${ID}:rpc`, `relayers:${ID}:send`),
    await keyFor(`relayers:${ID}:send`),
  ];
  const transaction = await built([], lamportsTo(PAID, 1_000_000));
  const reason = /Lamports transfers are not allowed from the relayer account/;
  const rpc = (client: RelayersApi) =>
    client.rpc(ID, { jsonrpc: '2.0', id: 1, method: 'signTransaction', params: { transaction } });
  t.match(await reasonOf(signs.signTransaction(ID, { transaction })), reason);
  t.match((await rpc(signs)).data, { error: { description: reason } });
  t.match(bodyOf(await both.signTransaction(ID, { transaction })), { signature: String });
  t.match((await rpc(both)).data, { result: { signature: String } });
  const fee = await built([], memo('only the fee'));
  t.match(bodyOf(await signs.signTransaction(ID, { transaction: fee })), { signature: String });
  t.match(await reasonOf(sends.signTransaction(ID, { transaction })), /sign/);
  await tickUntil(String(bodyOf(await sends.sendTransaction(ID, { transaction }))['id']), 'confirmed');
  const sponsored = new Transaction({ feePayer: anyone(), ...(await connection.getLatestBlockhash()) })
    .add(lamportsTo(PAID, 1_000_000))
    .serialize({ requireAllSignatures: false })
    .toString('base64');
  t.match(await reasonOf(signs.signTransaction(ID, { transaction: sponsored })), /Fee payer \S+ does not match/);
});

t.test('a plugin that may sign and not send gains nothing by signing', async (t) => {
  const asked = async (id: string, params: object) => (await service.call(id, params)).body;
  const transaction = await built([], lamportsTo(PAID, 1_000_000));
  const rpc = { rpc: { method: 'signTransaction', params: { transaction } } };
  t.match((await asked('signs', { sign: { transaction } })).error, /Lamports transfers are not allowed/);
  t.match(await asked('signs', rpc), { data: { error: { description: /Lamports transfers are not allowed/ } } });
  t.match((await asked('signs', { send: { transaction } })).error, /has no grant to send/);
  t.match(await asked('does', { sign: { transaction } }), { data: { signature: String } });
  t.match(await asked('does', rpc), { data: { result: { signature: String } } });
});

t.test('the limits of a plugin count every lamport, and what they cannot count is not sent', async (t) => {
  const asked = async (id: string, ...instructions: TransactionInstruction[]) =>
    (await service.call(id, { send: { instructions: instructions.map(onWire) } })).body;
  const { data } = await asked('budget', lamportsTo(PAID, 600_000), accountFor(anyone()));
  await tickUntil(data.id, 'confirmed');
  t.match(await asked('budget', lamportsTo(PAID, 400_001)), {
    data: { code: 'BUDGET_SPENT', details: { rule: 'value_per_hour', remaining: '400000' } },
  });
  t.match(await asked('budget', accountFor(anyone())), { data: { code: 'BUDGET_SPENT' } });
  const again = await service.call('budget', {
    rpc: { method: 'signAndSendTransaction', params: { transaction: await built([], lamportsTo(PAID, 400_000)) } },
  });
  await tickUntil(again.body.data.result.id, 'confirmed');
  t.match(await asked('budget', lamportsTo(PAID, 1)), { data: { code: 'BUDGET_SPENT' } });

  const unknown = new TransactionInstruction({
    programId: anyone(),
    data: Buffer.from([1]),
    keys: [{ pubkey: relayer, isSigner: false, isWritable: true }],
  });
  const nonce = SystemProgram.nonceWithdraw({
    noncePubkey: anyone(),
    authorizedPubkey: relayer,
    toPubkey: PAID,
    lamports: 1,
  });
  const seeded = SystemProgram.transfer({
    fromPubkey: anyone(),
    basePubkey: relayer,
    toPubkey: PAID,
    lamports: 1,
    seed: 'x',
    programId: anyone(),
  });
  for (const id of ['budget', 'fees']) {
    for (const one of [tokensTo(PAID, 1), unknown, nonce, seeded]) {
      const told = await asked(id, one);
      t.match(told, { data: { code: 'GRANT_EXCEEDED', details: { asked: /^Instruction 1 \(program \S+\)/ } } }, id);
    }
  }
  t.match(await asked('payer', lamportsTo(anyone(), 1)), { data: { details: { rule: 'recipients' } } });
  t.match(await asked('payer', accountFor(anyone())), { data: { details: { rule: 'recipients' } } });
  t.match(await asked('payer', lamportsTo(PAID, 1_000_001)), { data: { details: { rule: 'value_per_call' } } });
  await tickUntil((await asked('payer', lamportsTo(PAID, 1_000_000))).data.id, 'confirmed');
});

t.test('a trial shows what other programs take, so min_balance stays', async (t) => {
  const made = Keypair.generate();
  const seed = 'savings';
  const owner = SystemProgram.programId;
  const derived = await PublicKey.createWithSeed(relayer, seed, owner);
  const held = await connection.getBalance(relayer);
  const create = SystemProgram.createAccountWithSeed({
    fromPubkey: relayer,
    newAccountPubkey: derived,
    basePubkey: relayer,
    seed,
    space: 0,
    programId: owner,
    lamports: held - 1_000_000,
  });
  const id = await send({ instructions: [onWire(create)] });
  const { status_reason: reason } = await until(id, (one) => one.status_reason !== undefined);
  t.match(reason, /Insufficient relayer balance/);
  await ask('DELETE', `/transactions/${id}`);
  t.equal(await connection.getBalance(made.publicKey), 0);
  t.equal(await connection.getBalance(relayer), held);
});
