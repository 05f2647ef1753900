import { readFileSync } from 'node:fs';
import t from 'tap';
import { eventNameSchema, webhookEndSchema } from '../../../../src/domain/webhook-event.ts';

const GUIDE = readFileSync(new URL('../../../../docs/webhooks.md', import.meta.url), 'utf8');

t.test('the guide for receivers tells of every event, and of how a delivery ends', async (t) => {
  const told = [...GUIDE.matchAll(/(?:"event": "|^\| `)(\w+)["`]/gm)].map(([, name]) => name);
  t.strictSame(
    eventNameSchema.options.filter((name) => !told.includes(name)),
    [],
  );
  t.notOk(webhookEndSchema.safeParse('waiting').success, 'what waits has not ended');
});
