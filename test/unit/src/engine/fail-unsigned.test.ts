import t from 'tap';
import { failUnsigned } from '../../../../src/engine/rollback-detector.ts';
import { EngineWorld, relayerNamed } from '../../../support/engine-world.ts';
import { notificationOf } from '../../../support/store.ts';

t.test(
  'what nobody signed ends as failed, webhooks are told, and it is pruned in its time; the rest stays',
  async (t) => {
    const world = await EngineWorld.open(t);
    await world.store.write(async (writer) => {
      await writer.putNotification(notificationOf({ id: 'hook' }));
      await writer.putRelayer(relayerNamed('r1', { notificationId: 'hook' }));
    });
    const signed = await world.accept('signed', { status: 'sent', sequence: 3n, hash: '0x3' });
    const unsigned = await world.accept('unsigned');
    await failUnsigned(world.store, world.ledger());
    t.match(await world.get(unsigned), {
      status: 'failed',
      statusReason: /not sent, because it may have been sent after the backup/,
      nextActionAt: null,
    });
    t.not(await world.store.read.endedAt(unsigned.id), null, 'or it would be kept for ever');
    t.equal(await world.store.read.waitingEvents(), 1);
    t.equal((await world.get(signed)).status, 'sent');
    t.equal(await world.store.read.unsignedCount(), 0);
  },
);
