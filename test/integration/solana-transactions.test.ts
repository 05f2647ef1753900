import { Keypair, Secp256k1Program } from '@solana/web3.js';
import t from 'tap';
import { onWire } from '../support/solana-relayer.ts';
import { memo, solanaStage } from '../support/solana-stage.ts';
import { anyone, transfer } from '../support/svm-scene.ts';

const { built, connection, funded, relayer, send, svm, tickUntil, until } = await solanaStage(t);

t.test('instructions are composed, signed, sent and confirmed', async (t) => {
  const id = await send({ instructions: [memo('one')] });
  const sent = await until(id, ({ status }) => status === 'submitted');
  t.match(sent, { id, signature: /^[1-9A-HJ-NP-Za-km-z]{80,90}$/, instructions: [memo('one')] });
  await svm.tick(2);
  const mined = await until(id, ({ status }) => status === 'mined');
  t.equal(mined.signature, sent.signature);
  const confirmed = await tickUntil(id, 'confirmed');
  t.match(confirmed, { confirmed_at: /^\d{4}-/, transaction: /^[A-Za-z0-9+/]+=*$/ });
  const landed = await svm.landed();
  t.equal(landed.filter(({ signature }) => signature === sent.signature).length, 1);
});

t.test('an instruction that names another by its place finds it there', async (t) => {
  const signed = { privateKey: Buffer.alloc(32, 7), message: Buffer.from('hello') };
  const check = Secp256k1Program.createInstructionWithPrivateKey(signed);
  const id = await send({ instructions: [onWire(check), memo('checked')] });
  t.match(await tickUntil(id, 'confirmed'), { status: 'confirmed' });
});

t.test('a transaction that a user has signed moves the user’s lamports and costs the relayer the fee', async (t) => {
  const [user, to] = [await funded(), anyone()];
  const before = await connection.getBalance(relayer);
  const id = await send({ transaction: await built([user], transfer(user, to, 5_000_000)) });
  await tickUntil(id, 'confirmed');
  t.equal(await connection.getBalance(to), 5_000_000);
  t.equal(before - (await connection.getBalance(relayer)), 10_000);
});

t.test('the same bytes posted twice are one transaction', async (t) => {
  const user = await funded();
  const transaction = await built([user], transfer(user, anyone(), 5_000_000));
  const id = await send({ transaction });
  t.equal(await send({ transaction }), id);
  const { signature } = await tickUntil(id, 'confirmed');
  t.equal((await svm.landed()).filter((one) => one.signature === signature).length, 1);
});

t.test('two equal payments under one blockhash are two', async (t) => {
  const ids = [await send({ instructions: [memo('same')] }), await send({ instructions: [memo('same')] })];
  const ends = [];
  for (const id of ids) ends.push(await tickUntil(id, 'confirmed'));
  const signatures = new Set(ends.map(({ signature }) => signature));
  t.equal(signatures.size, 2);
  t.equal((await svm.landed()).filter(({ signature }) => signatures.has(signature)).length, 2);
});

t.test('dropped bytes are offered again, the same', async (t) => {
  await svm.dropNext(1);
  const id = await send({ instructions: [memo('dropped')] });
  const { signature } = await until(id, ({ status }) => status === 'submitted');
  t.equal((await tickUntil(id, 'confirmed')).signature, signature);
  t.ok((await svm.offers()).filter((one) => one === signature).length > 1);
});

t.test('once its blockhash is past, what only the relayer signs is signed anew', async (t) => {
  await svm.dropNext(1_000);
  const id = await send({ instructions: [memo('lapsed')] });
  const { signature } = await until(id, ({ status }) => status === 'submitted');
  await svm.dropNext(0);
  await svm.expireBlockhashes();
  await svm.tick(5);
  const { signature: second } = await until(id, (one) => one.signature !== undefined && one.signature !== signature);
  t.not(second, signature);
  t.equal((await tickUntil(id, 'confirmed')).signature, second);
  t.equal((await svm.landed()).filter((one) => one.signature === signature || one.signature === second).length, 1);
});

t.test('once its blockhash is past, what others signed too has expired', async (t) => {
  const [user, to] = [await funded(), anyone()];
  await svm.dropNext(1_000);
  const id = await send({ transaction: await built([user], transfer(user, to, 5_000_000)) });
  await until(id, ({ status }) => status === 'submitted');
  await svm.expireBlockhashes();
  t.match(await tickUntil(id, 'expired'), { status_reason: /time to be in a block/ });
  t.equal(await connection.getBalance(to), 0);
});

t.test('what would fail on the chain is refused with the program’s own words', async (t) => {
  const poor = Keypair.generate();
  const id = await send({ transaction: await built([poor], transfer(poor, anyone(), 5_000_000)) });
  const { status_reason: reason } = await tickUntil(id, 'failed');
  t.match(reason, /Solana transaction validation error: Simulation failed: Instruction 1 \(program 1{32}\) failed: /);
});

t.test('an instruction of a program that is not there is refused with the reason', async (t) => {
  const gone = { ...memo('nobody'), program_id: anyone().toBase58() };
  const { status_reason: reason } = await tickUntil(await send({ instructions: [gone] }), 'failed');
  t.match(reason, /Simulation failed: (ProgramAccountNotFound|InvalidProgramForExecution): a program that it calls /);
});
