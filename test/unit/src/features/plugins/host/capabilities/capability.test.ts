import { readFileSync } from 'node:fs';
import t from 'tap';
import { z } from 'zod';
import {
  bindCapabilities,
  CAPABILITIES,
} from '../../../../../../../src/features/plugins/host/capabilities/all-capabilities.ts';
import { defineCapability } from '../../../../../../../src/features/plugins/host/capabilities/capability.ts';
import { capabilityFiles } from '../../../../../../client/capabilities-text.ts';
import { PluginServices } from '../../../../../../support/plugin-services.ts';
import { principalOf } from '../../../../../../support/principal.ts';

const principal = principalOf();

t.test('a handler receives the services it names and no others', async (t) => {
  let seen: string[] = [];
  const capability = defineCapability({
    method: 'kv.exists',
    needs: ['kv'],
    params: z.strictObject({ key: z.string() }),
    result: z.boolean(),
    grant: () => ({ kv: true }),
    effect: () => false,
    handle: (services, { key }) => {
      seen = Object.keys(services);
      return services.kv.exists('p', key);
    },
    failure: (error) => error.message,
  });
  const bound = capability.bind(new PluginServices());
  t.equal(bound.method, 'kv.exists');
  const prepared = bound.prepare({ key: 'a' });
  t.same([prepared.need, prepared.effect, prepared.trace], [{ kv: true }, false, undefined]);
  t.equal(await prepared.run(principal), false);
  t.same(seen, ['kv']);
});

t.test('parameters are parsed before anything else is asked', async (t) => {
  const capability = defineCapability({
    method: 'kv.get',
    needs: [],
    params: z.strictObject({ key: z.string() }),
    result: z.null(),
    grant: () => ({ kv: true }),
    effect: () => false,
    handle: () => Promise.resolve(null),
    failure: () => '',
  });
  t.throws(() => capability.bind(new PluginServices()).prepare({ key: 1 }), z.ZodError);
  t.throws(() => capability.bind(new PluginServices()).prepare({ key: 'a', more: 1 }), z.ZodError);
});

t.test('every capability is found by its own method, and no property of an object is one', async (t) => {
  const capabilities = bindCapabilities(new PluginServices());
  t.equal(capabilities.size, CAPABILITIES.length);
  for (const [method, capability] of capabilities) t.equal(capability.method, method);
  for (const name of ['constructor', '__proto__', 'toString', 'kv', '']) t.equal(capabilities.get(name), undefined);
});

t.test('what the guest and authors have of them is up to date: npm run client', async (t) => {
  for (const { path, text } of capabilityFiles()) t.equal(readFileSync(path, 'utf8'), text, path);
});
