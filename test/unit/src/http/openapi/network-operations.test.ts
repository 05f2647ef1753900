import t from 'tap';
import { createChains } from '../../../../../src/chains/registry.ts';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { networkOperations, networkSchema } from '../../../../../src/http/openapi/network-operations.ts';
import { networkView } from '../../../../../src/services/settings/network-view.ts';
import { describedBodies } from '../../../../support/described.ts';

const chains = createChains(systemClock);

t.test('a network as it is answered has the described shape, whatever its family', (t) => {
  for (const { type, networkSchema: settingsSchema } of chains.values()) {
    const settings = settingsSchema.parse({ tags: ['x'], is_testnet: true });
    const view = networkView({
      type,
      name: 'n',
      rpcUrls: [{ url: 'https://x.example', weight: 1 }],
      settings,
      source: 'file',
    });
    t.strictSame(networkSchema.parse(view), view);
  }
  t.end();
});

t.test('bodies are those of the families', (t) => {
  const all = networkOperations(describedBodies(chains));
  const create = all['POST /api/v1/networks']?.body;
  t.ok(create?.schema.safeParse(create.example).success);
  t.notOk(create?.schema.safeParse({ name: 'x' }).success);
  t.end();
});
