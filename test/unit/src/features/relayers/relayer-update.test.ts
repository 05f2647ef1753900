import t, { type Test } from 'tap';
import { createEvmChain } from '../../../../../src/chains/evm/index.ts';
import { systemClock } from '../../../../../src/domain/clock.ts';
import { createAddressGuard } from '../../../../../src/egress/address-guard.ts';
import { Access } from '../../../../../src/features/api-keys/records/access.ts';
import { fixedNetworks } from '../../../../../src/features/networks/record.ts';
import type { Relayer } from '../../../../../src/features/relayers/records/relayer.ts';
import { RelayerDirectory } from '../../../../../src/features/relayers/relayer-access.ts';
import { createRelayerUpdate } from '../../../../../src/features/relayers/relayer-update.ts';
import { OPERATOR, operatorOnce } from '../../../../support/caller.ts';
import { EngineWorld, relayerNamed } from '../../../../support/engine-world.ts';
import { keyedEffect } from '../../../../support/keyed-effect.ts';
import { notificationOf } from '../../../../support/store.ts';

/** Relayer `r1` with EVM policies, on a network whose endpoints are the world's client. */
async function stage(t: Test, relayer: Partial<Relayer> = {}) {
  const world = await EngineWorld.open(t);
  await world.store.write(async (writer) => {
    await writer.putRelayer(
      relayerNamed('r1', { notificationId: 'hook-1', policies: { gas_price_cap: 5 }, ...relayer }),
    );
    for (const id of ['hook-1', 'hook-2']) await writer.putNotification(notificationOf({ id }));
  });
  const rechecked: string[] = [];
  const connections = { clientOf: () => world.client, close: async () => {} };
  const chains = new Map([['evm' as const, createEvmChain(systemClock)]]);
  const made = createRelayerUpdate({
    store: world.store,
    relayers: new RelayerDirectory({ read: world.store.read, chains, connections }),
    networks: fixedNetworks([]),
    connections,
    engine: { recheck: (id) => void rechecked.push(id) },
    rpcGuard: createAddressGuard({ allowedHosts: [], blockPrivate: true }),
  });
  const update = (id: string, body: unknown, by = OPERATOR) => made(id, body, by);
  const stored = async () => world.store.read.relayer('r1');
  return { world, update, rechecked, stored };
}

t.test('a key names only notifications that exist for it', async (t) => {
  const { update, stored } = await stage(t);
  const by = (...permissions: string[]) => ({ ...OPERATOR, access: new Access(permissions) });
  const named = { notification_id: 'hook-2' };
  await t.rejects(update('r1', named, by('relayers:r1:write')), { code: 'NOTIFICATION_NOT_FOUND' });
  t.match(await stored(), { notificationId: 'hook-1' });
  t.match(await update('r1', named, by('relayers:r1:write', 'notifications:read')), { notificationId: 'hook-2' });
  t.match(await update('r1', { notification_id: null }, by('relayers:r1:write')), { notificationId: null });
});

const URLS = [{ url: 'https://rpc.example/v3/key', weight: 30 }];

t.test('each field is changed alone, and what is absent stays', async (t) => {
  const { update, stored, rechecked } = await stage(t);
  const expected = { ...(await stored()) } as Relayer;
  for (const [body, field, value] of [
    [{}, 'name', 'r1'],
    [{ name: 'New' }, 'name', 'New'],
    [{ name: null }, 'name', 'New'],
    [{ paused: true }, 'paused', true],
    [{ notification_id: 'hook-2' }, 'notificationId', 'hook-2'],
    [{ notification_id: null }, 'notificationId', null],
    [{ custom_rpc_urls: URLS }, 'customRpcUrls', URLS],
    [
      { custom_rpc_urls: [{ url: 'https://rpc.example' }] },
      'customRpcUrls',
      [{ url: 'https://rpc.example', weight: 100 }],
    ],
    [{ custom_rpc_urls: [] }, 'customRpcUrls', []],
    [{ custom_rpc_urls: null }, 'customRpcUrls', null],
    [{ policies: { min_balance: '7' } }, 'policies', { gas_price_cap: 5, min_balance: 7 }],
    [{ policies: {} }, 'policies', { gas_price_cap: 5, min_balance: 7 }],
    [{ paused: false }, 'paused', false],
  ] as const) {
    const changed = await update('r1', body);
    t.strictSame(changed, { ...expected, [field]: value }, JSON.stringify(body));
    Object.assign(expected, { [field]: value });
    t.strictSame(await stored(), expected);
  }
  t.equal(rechecked.length, 4, 'new endpoints are looked at, the rest is not');
});

t.test('policies are merged key by key; null removes one, a list is replaced whole, null removes all', async (t) => {
  const address = (digit: string) => `0x${digit.repeat(40)}`;
  const { update, stored } = await stage(t, {
    policies: { gas_price_cap: 5, eip1559_pricing: true, whitelist_receivers: [address('1'), address('2')] },
  });
  await update('r1', {
    policies: { gas_price_cap: null, whitelist_receivers: [address('3')], min_balance: 2 ** 53 - 1 },
  });
  t.strictSame((await stored())?.policies, {
    eip1559_pricing: true,
    whitelist_receivers: [address('3')],
    min_balance: 2 ** 53 - 1,
  });
  const big = (2n ** 128n - 1n).toString();
  await update('r1', { policies: { min_balance: big } });
  t.equal((await stored())?.policies['min_balance'], big, 'exact');
  await update('r1', { policies: null });
  t.strictSame((await stored())?.policies, {});
});

t.test('a refused body changes nothing and names the place', async (t) => {
  const { update, stored, rechecked } = await stage(t);
  const before = await stored();
  for (const [body, reason] of [
    [null, /^the body: /],
    [[], /^the body: /],
    ['x', /^the body: /],
    [{ signer_id: 's' }, /^unknown field `signer_id`, expected one of `name`, `paused`, /],
    [
      { id: 'x', network: 'y', address: 'z' },
      /^unknown field `id`; unknown field `network`; unknown field `address`, expected one of /,
    ],
    [{ name: '' }, /^name: Name cannot be empty$/],
    [{ name: 7 }, /^name: /],
    [{ name: 'x'.repeat(300) }, /^name: must have at most 256 characters$/],
    [{ paused: null }, /^paused: /],
    [{ paused: 'true' }, /^paused: /],
    [{ paused: 1 }, /^paused: /],
    [{ notification_id: '' }, /^notification_id: ID must contain/],
    [{ notification_id: 7 }, /^notification_id: /],
    [{ custom_rpc_urls: 'https://rpc.example' }, /^custom_rpc_urls: /],
    [{ custom_rpc_urls: {} }, /^custom_rpc_urls: /],
    [{ custom_rpc_urls: ['https://rpc.example'] }, /^custom_rpc_urls\.0: /],
    [{ custom_rpc_urls: [{}] }, /^custom_rpc_urls\.0\.url: missing$/],
    [{ custom_rpc_urls: [{ url: '' }] }, /^custom_rpc_urls\.0\.url: must be an http or https URL/],
    [{ custom_rpc_urls: [{ url: 'ws://rpc.example' }] }, /^custom_rpc_urls\.0\.url: must be an http or https URL/],
    [{ custom_rpc_urls: [{ url: `https://rpc.example/${'x'.repeat(3_000)}` }] }, /at most 2048 characters/],
    [{ custom_rpc_urls: [{ url: 'https://rpc.example/***' }] }, /is hidden in part/],
    [
      { custom_rpc_urls: [{ url: 'https://rpc.example', wieght: 1 }] },
      /^custom_rpc_urls\.0: unknown field `wieght`, did you mean `weight`\?$/,
    ],
    ...[-1, 101, 1.5, '5', null, 2 ** 53].map(
      (weight) =>
        [{ custom_rpc_urls: [{ url: 'https://rpc.example', weight }] }, /^custom_rpc_urls\.0\.weight: /] as const,
    ),
    [{ custom_rpc_urls: [{ url: 'https://rpc.example', weight: 0 }] }, /at least one weight must be above 0$/],
    [{ custom_rpc_urls: Array(100_000).fill(0) }, /^custom_rpc_urls: must have at most 64 entries$/],
    [
      { custom_rpc_urls: [{ url: 'http://127.0.0.1:8545' }] },
      /^custom_rpc_urls\.0\.url: Invalid RPC URL: 127\.0\.0\.1 is refused/,
    ],
    [
      { custom_rpc_urls: [{ url: 'http://169.254.169.254/key' }] },
      /Invalid RPC URL: 169\.254\.169\.254 is refused: a link-local address$/,
    ],
    [{ policies: [] }, /^policies: must be an object$/],
    [{ policies: 'x' }, /^policies: must be an object$/],
    [{ policies: { max_fee: 1 } }, /^policies\.max_fee: unknown key$|unknown field/],
    [{ policies: { max_fee: null } }, /max_fee/],
    [{ policies: { gas_price_cap: -1 } }, /^policies\.gas_price_cap: must not be negative$/],
    [{ policies: { gas_price_cap: (2n ** 128n).toString() } }, /^policies\.gas_price_cap: /],
    [{ policies: { min_balance: 1.5 } }, /^policies\.min_balance: /],
    [{ policies: { eip1559_pricing: 'yes' } }, /^policies\.eip1559_pricing: /],
    [{ policies: { whitelist_receivers: ['0x1'] } }, /^policies\.whitelist_receivers\.0: /],
  ] as [unknown, RegExp][]) {
    const refused = update('r1', body);
    await t.rejects(
      refused,
      { code: 'INVALID_REQUEST', message: reason, publicMessage: 'Bad Request' },
      String(reason),
    );
  }
  t.strictSame(await stored(), before);
  t.strictSame(rechecked, []);
});

t.test('unknown relayers and notifications are 404', async (t) => {
  const { update, stored } = await stage(t);
  await t.rejects(update('nobody', { bad: 1 }), {
    code: 'RELAYER_NOT_FOUND',
    message: 'Relayer with ID nobody not found',
  });
  await t.rejects(update('r1', { name: 'New', notification_id: 'nobody' }), {
    code: 'NOTIFICATION_NOT_FOUND',
    message: "Notification with ID 'nobody' not found",
  });
  t.equal((await stored())?.name, 'r1');
});

t.test('a disabled relayer can be paused and repaired, and is looked at again', async (t) => {
  const disabledReason = { type: 'RpcValidationFailed', details: 'RPC endpoint validation failed' } as const;
  const { update, rechecked } = await stage(t, { disabledReason });
  t.match(await update('r1', { paused: true }), { paused: true, disabledReason });
  t.match(await update('r1', { custom_rpc_urls: URLS }), { customRpcUrls: URLS, disabledReason });
  t.strictSame(rechecked, ['r1', 'r1']);
});

t.test('endpoints of another chain are refused; those that do not answer are left to the check', async (t) => {
  const { world, update, stored, rechecked } = await stage(t);
  world.client.identityText = '1';
  await t.rejects(update('r1', { custom_rpc_urls: URLS }), {
    code: 'INVALID_REQUEST',
    message: 'custom_rpc_urls: the endpoints serve chain 1, but network fake is chain 31337',
  });
  t.equal((await stored())?.customRpcUrls, null);
  world.chain.fault = () => 'request-lost';
  await update('r1', { custom_rpc_urls: URLS });
  t.strictSame((await stored())?.customRpcUrls, URLS);
  t.strictSame(rechecked, ['r1']);
});

t.test('one endpoint of another chain among right ones is refused as well', async (t) => {
  const { world, update, stored } = await stage(t);
  world.client.identity = async (expected, onServed) => {
    t.equal(expected, '31337');
    onServed?.('right.example', '31337');
    onServed?.('wrong.example', '5');
    return '31337';
  };
  await t.rejects(update('r1', { custom_rpc_urls: URLS }), {
    code: 'INVALID_REQUEST',
    message: 'custom_rpc_urls: the endpoints serve chain 5, but network fake is chain 31337',
  });
  t.equal((await stored())?.customRpcUrls, null);
});

t.test('changes that come at once all survive', async (t) => {
  const { update, stored } = await stage(t);
  await Promise.all([
    update('r1', { name: 'New' }),
    update('r1', { paused: true }),
    update('r1', { policies: { min_balance: 3 } }),
    update('r1', { policies: { eip1559_pricing: false } }),
    update('r1', { notification_id: 'hook-2' }),
  ]);
  t.match(await stored(), {
    name: 'New',
    paused: true,
    notificationId: 'hook-2',
    policies: { gas_price_cap: 5, min_balance: 3, eip1559_pricing: false },
  });
});

t.test('under one name a change is made once; its repeat shows the relayer as it is', async (t) => {
  const { world, update } = await stage(t);
  const once = operatorOnce(await keyedEffect(world.store));
  const both = await Promise.all([update('r1', { paused: true }, once), update('r1', { paused: true }, once)]);
  t.ok(both.some(({ paused }) => paused));
  await update('r1', { paused: false });
  t.equal((await update('r1', { paused: true }, once)).paused, false);
});

t.test('a change leaves a record with both views, endpoints hidden', async (t) => {
  const { world, update } = await stage(t);
  await update('r1', { name: 'New', custom_rpc_urls: [{ url: 'https://rpc.example/a-secret-key' }] });
  await update('r1', { name: 'New' });
  const { items } = await world.store.read.auditRecords({ before: null, limit: 10 }, { resource: 'relayer' });
  t.match(items, [
    {
      action: 'update',
      resourceId: 'r1',
      before: { name: 'r1' },
      after: { name: 'New', custom_rpc_urls: [{ url: 'https://rpc.example/***', weight: 100 }] },
      keyId: 'operator',
    },
  ]);
  t.equal(items.length, 1);
});
