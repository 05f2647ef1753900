/** Threat: many plugins whose bundles are each within the limit, but together fill the server's memory. */
import t from 'tap';
import { DEFAULT_LIMITS } from '../../../../../sandbox/protocol.ts';
import { BundleRoom } from '../../../../../src/plugin-host/catalog/bundle-room.ts';

const built = (bytes: number, pluginId = 'p') => ({
  version: {
    pluginId,
    version: 'v',
    code: '',
    filename: `plugins/${pluginId}.ts`,
    env: {},
    limits: DEFAULT_LIMITS,
    isolation: 'plugin' as const,
  },
  positions: { mapped: (text: string) => text },
  bytes,
  inputs: new Set([`/${pluginId}.ts`]),
  since: 1,
  reads: { environment: [], fetches: false, hosts: [] },
});

t.test('there is room up to the last byte', (t) => {
  const room = new BundleRoom(100);
  t.equal(room.refusal(built(40), 60), undefined);
  t.equal(room.filesOfRefused('p', 60), undefined);
  t.match(room.refusal(built(41), 60), {
    code: 'SIZE_LIMIT',
    status: 500,
    message: /^The bundle of plugins\/p\.ts has 41 bytes .* other plugins 60: together more than 100$/,
    details: { pluginId: 'p', file: 'plugins/p.ts' },
  });
  t.end();
});

t.test('what was refused is known by its files until there is room, or something else', (t) => {
  const room = new BundleRoom(100);
  room.refusal(built(41), 60);
  t.strictSame(room.filesOfRefused('p', 60), new Set(['/p.ts']));
  t.equal(room.filesOfRefused('p', 59), undefined);
  t.equal(room.filesOfRefused('q', 60), undefined);
  room.refusal(built(39), 60);
  t.equal(room.filesOfRefused('p', 90), undefined);
  room.refusal(built(41), 60);
  room.forget('p');
  t.equal(room.filesOfRefused('p', 60), undefined);
  t.end();
});
