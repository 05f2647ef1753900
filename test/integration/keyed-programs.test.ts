/**
 * Threat: a plugin call is cut off anywhere, and runs again under its key after the world has changed. Paused relayers
 * are back and others are paused, parallel effects come in another order, and effects of a dead run still happen. For
 * any plugin, exactly the effects that its last run was told of were made.
 */

import t from 'tap';
import { startAnvil } from '../support/anvil.ts';
import { composeService } from '../support/composed-service.ts';
import { EngineWorld } from '../support/engine-world.ts';
import { type Cut, KeyedProgram, type Program, RELAYERS } from '../support/keyed-program.ts';
import { fc, propertySeed, runsOf } from '../support/properties.ts';
import { seededRandom } from '../support/seeded.ts';
import type { AnswerBody } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

const SEED = propertySeed();

const relayer = fc.nat({ max: RELAYERS.length - 1 });
const send = fc.record({ do: fc.constant('send' as const), relayer, label: fc.constant('') });

const { program } = fc.letrec<{ program: Program; leaf: Program; node: Program }>((tie) => ({
  program: fc.oneof({ maxDepth: 4, depthSize: 'small' }, tie('leaf'), tie('node')),
  leaf: fc.oneof(
    { weight: 5, arbitrary: send },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('set' as const), label: fc.constant('') }) },
    { weight: 1, arbitrary: fc.constant({ do: 'read' as const }) },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('insist' as const), send, times: fc.integer({ min: 2, max: 3 }) }),
    },
  ),
  node: fc.oneof(
    fc.record({ do: fc.constant('either' as const), first: tie('program'), next: tie('program') }),
    fc.record({
      do: fc.constantFrom('in turn' as const, 'at once' as const),
      all: fc.array(tie('program'), { minLength: 2, maxLength: 3 }),
    }),
    fc.record({ do: fc.constant('locked' as const), label: fc.constant(''), inner: tie('program') }),
  ),
}));

const cut = fc.record<Cut>({
  how: fc.constantFrom('process lost', 'time over', 'server killed'),
  after: fc.integer({ min: 1, max: 25 }),
});

/** The same program with its own labels. With `random`, some labels change from run to run. */
function labelled(given: Program, prefix: string, random: () => number = () => 1): Program {
  let count = 0;
  const label = () => `${prefix}/${count++}${random() < 0.3 ? `/${random()}` : ''}`;
  const walk = (one: Program): Program => {
    switch (one.do) {
      case 'send':
      case 'set':
        return { ...one, label: label() };
      case 'insist':
        return { ...one, send: { ...one.send, label: label() } };
      case 'either':
        return { ...one, first: walk(one.first), next: walk(one.next) };
      case 'locked':
        return { ...one, label: label(), inner: walk(one.inner) };
      case 'in turn':
      case 'at once':
        return { ...one, all: one.all.map(walk) };
      case 'read':
        return one;
      default:
        throw new Error(`Unknown ${JSON.stringify(one satisfies never)}`);
    }
  };
  return walk(given);
}

/** The most payments that one run can make. */
function most(given: Program): number {
  switch (given.do) {
    case 'send':
    case 'insist':
      return 1;
    case 'set':
    case 'read':
      return 0;
    case 'locked':
      return most(given.inner);
    case 'in turn':
    case 'at once':
      return given.all.reduce((sum, one) => sum + most(one), 0);
    case 'either':
      // The refused branch made one payment less than it could.
      return Math.max(most(given.first), Math.max(0, most(given.first) - 1) + most(given.next));
    default:
      throw new Error(`Unknown ${JSON.stringify(given satisfies never)}`);
  }
}

t.test('whatever a plugin does, and wherever it is cut off, its last run is told of all that was done', async (t) => {
  const world = await EngineWorld.open(t);
  let number = 0;
  const seen = { cut: 0, paid: 0 };
  const holds = async (given: Program, cuts: Cut[]) => {
    number += 1;
    const key = `program-${number}`;
    const plugin = labelled(given, key);
    const runs = new KeyedProgram(world, key, seededRandom(SEED, key));
    for (const one of cuts) {
      await runs.shuffle();
      const { how, code } = await runs.run(plugin, one);
      if (how === 'failed') throw new Error(`${key}: ${code}`);
      if (how === 'cut') seen.cut += 1;
      else break;
    }
    await runs.shuffle();
    const { how, code, ids } = await runs.run(plugin);
    if (how !== 'returned') throw new Error(`${key}: ${how} ${code}`);
    const accepted = await runs.accepted();
    seen.paid += accepted.length;
    t.same(ids.toSorted(), accepted.toSorted(), `${key}: ${JSON.stringify({ given, cuts })}`);
    return ids.length === accepted.length;
  };
  await fc.assert(fc.asyncProperty(program, fc.array(cut, { minLength: 1, maxLength: 4 }), holds), {
    numRuns: runsOf(150),
    endOnFailure: true,
  });
  t.ok(seen.cut > 25 && seen.paid > 25, JSON.stringify(seen));
});

t.test('a plugin that asks for something else in each run pays no more than it could in one', async (t) => {
  const world = await EngineWorld.open(t);
  let number = 0;
  const seen = { ended: 0, paid: 0 };
  const holds = async (given: Program, cuts: Cut[]) => {
    number += 1;
    const key = `drifting-${number}`;
    const random = seededRandom(SEED, key);
    const runs = new KeyedProgram(world, key, random);
    for (const one of [...cuts, undefined]) {
      await runs.shuffle();
      const { how, code } = await runs.run(labelled(given, key, random), one);
      if (how !== 'failed') continue;
      seen.ended += 1;
      if (code !== 'EFFECT_MISMATCH' && code !== 'LOCK_HELD_ELSEWHERE') throw new Error(`${key}: ${code}`);
    }
    const accepted = await runs.accepted();
    seen.paid += accepted.length;
    return accepted.length <= most(given);
  };
  await t.resolves(
    fc.assert(fc.asyncProperty(program, fc.array(cut, { minLength: 1, maxLength: 4 }), holds), {
      numRuns: runsOf(150),
      endOnFailure: true,
    }),
  );
  t.ok(seen.ended > 10 && seen.paid > 10, JSON.stringify(seen));
});

/**
 * Threat: a batch is repeated under its key, and pays again what its first run sent before another of its requests
 * failed.
 */
const TRANSFER = { to: `0x${'ab'.repeat(20)}`, value: '7', data: '0x', gas_limit: 21_000, speed: 'fast' };

t.test('each payment of a batch is sent once, however often the batch is', async (t) => {
  const anvil = await startAnvil({ blockTime: 0.1 });
  t.teardown(() => anvil.stop());
  const workspace = await createWorkspace({ rpcUrl: anvil.url, accounts: 2 });
  t.teardown(() => workspace.remove());
  for (const address of workspace.addresses)
    await anvil.rpc('anvil_setBalance', [address, `0x${(10n ** 20n).toString(16)}`]);
  const service = await composeService(workspace.env);
  t.teardown(() => service.stop());
  const batch = async (requests: object[], key: string) => {
    const response = await fetch(`${service.url}/api/v1/transactions/batch`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': key,
      },
      body: JSON.stringify({ requests }),
    });
    const { data } = (await response.json()) as AnswerBody;
    return { replayed: response.headers.get('idempotency-replayed'), data };
  };
  const sent = async (id: string): Promise<string[]> => {
    const { body } = await service.request('GET', `/api/v1/relayers/${id}/transactions`);
    return body.data.map((one: { id: string }) => one.id);
  };
  const pause = (paused: boolean) => service.request('PATCH', '/api/v1/relayers/local-2', { paused });
  const requests = ['local-1', 'local-2', 'local-1'].map((id) => ({ relayer_id: id, transaction: TRANSFER }));

  await pause(true);
  const first = await batch(requests, 'batch-1');
  t.match(first.data, [{ status: 200 }, { status: 403 }, { status: 200 }]);
  t.not(first.data[0].data.id, first.data[2].data.id, 'equal requests at two places are two payments');
  await pause(false);
  const second = await batch(requests, 'batch-1');
  t.match(second.data, [{ status: 200 }, { status: 200 }, { status: 200 }]);
  const idsOf = (data: AnswerBody) => [data[0].data.id, data[2].data.id];
  t.strictSame(idsOf(second.data), idsOf(first.data));
  const third = await batch(requests, 'batch-1');
  t.equal(third.replayed, 'true');
  t.strictSame(third.data, second.data);

  // The same payment, under an idempotency key of its own, in two batches.
  const keyed = [{ ...requests[0], idempotency_key: 'payment-1' }];
  const [one, again] = [await batch(keyed, 'batch-2'), await batch(keyed, 'batch-3')];
  t.equal(again.data[0].data.id, one.data[0].data.id);
  t.strictSame([(await sent('local-1')).length, (await sent('local-2')).length], [3, 1]);
});
