import t from 'tap';
import { Senders } from '../../../../../src/engine/lane/sender.ts';
import { ADDRESS, EngineWorld, LANE, relayerNamed } from '../../../../support/engine-world.ts';

t.test('a sender is found once for a step', async (t) => {
  const world = await EngineWorld.open(t);
  let reads = 0;
  const read = { ...world.store.read, relayer: (id: string) => ((reads += 1), world.store.read.relayer(id)) };
  const senders = new Senders(
    {
      store: { ...world.store, read },
      chains: new Map([['evm', world.family]]),
      connections: { clientOf: () => world.client, close: async () => {} },
      signerOf: async () => world.signer,
    },
    LANE,
  );
  const [one, two] = await Promise.all([senders.of('r1'), senders.of('r1')]);
  t.equal(one, two);
  t.equal(reads, 1);
  t.equal(one.account.address, ADDRESS);
  t.equal(one.client, world.client);
  t.equal(await one.signer(), world.signer);
});

t.test('a relayer that is gone, or of a family that is not there, says so', async (t) => {
  const world = await EngineWorld.open(t);
  await world.store.write((writer) => writer.putRelayer(relayerNamed('other', { networkType: 'solana' })));
  const { senders } = await world.step();
  await t.rejects(senders.of('gone'), { message: 'Relayer gone is gone' });
  await t.rejects(senders.of('other'), { message: 'No chain family solana' });
});

t.test('a relayer that was given another signer still acts for the account of the lane', async (t) => {
  const world = await EngineWorld.open(t);
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { address: '0xbb', signerId: 'another' })));
  const step = await world.step();
  t.equal((await step.senders.of('r1')).account.address, ADDRESS);
});

t.test('a sender is current as long as its relayer has the same policies', async (t) => {
  const world = await EngineWorld.open(t);
  const { senders } = await world.step();
  const sender = await senders.of('r1');
  t.ok(await senders.isCurrent(sender));
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { paused: true })));
  t.ok(await senders.isCurrent(sender), 'what was accepted before a pause goes on');
  await world.store.write((writer) => writer.putRelayer(relayerNamed('r1', { policies: { min_balance: 2 } })));
  t.notOk(await senders.isCurrent(sender));
  await world.store.write((writer) => writer.deleteRelayer('r1'));
  t.notOk(await senders.isCurrent(sender));
});
