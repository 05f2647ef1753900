import t from 'tap';
import { ADDRESS, EngineWorld, relayerNamed } from '../../../../support/engine-world.ts';

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
