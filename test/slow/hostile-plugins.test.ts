/**
 * Threat: guest code takes the process, the processor or the memory for itself. A plugin of a real server runs one
 * attack of each kind. The folder `threats` has the others of the design's table. Meanwhile `/health` and another
 * plugin answer. The attacking call ends with its code, the same plugin then serves an honest call, and nothing is left
 * behind. If one of these fails, look at the watch in `sandbox/host/child/child-supervisor.ts` before you touch the test.
 */
import t from 'tap';
import { descendantsOf, survivors } from '../support/processes.ts';
import { type RunningService, startService } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

/** Far less than a call's time limit here, so nobody waits for an attack to end. The gauntlet measures exact times. */
const SERVED_WITHIN_MS = 8_000;

/** Which limit is reached first depends on the machine. */
const MEMORY_OR_CPU = ['MEMORY_LIMIT', 'CPU_LIMIT'];

/** By attack: the handler's body, and the codes with which its call may end. */
const ATTACKS: Record<string, { body: string; codes: string[] }> = {
  'endless-loop': { body: 'for (;;) {}', codes: ['CPU_LIMIT'] },
  'map-growth': { body: 'const m = new Map(); for (let i = 0; ; i++) m.set(i, { i });', codes: MEMORY_OR_CPU },
  'sort-loop': {
    body: 'const a = Array.from({ length: 2e6 }, (_, i) => -i); for (;;) a.sort((x, y) => x - y).reverse();',
    codes: MEMORY_OR_CPU,
  },
  'capability-loop': { body: "for (;;) await kv.get('x');", codes: ['CALL_LIMIT'] },
  'log-flood': { body: "for (;;) console.log('x'.repeat(1000));", codes: ['CPU_LIMIT'] },
};

const attacks = Object.entries(ATTACKS).map(([id, { body }]) => `  '${id}': async (kv) => { ${body} },`);
const ATTACKER = `const attacks = {
${attacks.join('\n')}
};
export async function handler({ params, kv }) {
  if (params.honest) return 'honest';
  console.log('about to attack');
  await attacks[params.attack](kv);
}
`;

const workspace = await createWorkspace({
  pluginFiles: { 'bystander.ts': `export const handler = () => 'here';`, 'attacker.ts': ATTACKER },
  plugins: [
    { id: 'attacker', path: 'attacker.ts', timeout: 60, emit_logs: true },
    { id: 'patient', path: 'attacker.ts', limits: { slice_ms: 60_000, cpu_ms: 60_000 } },
  ],
});
t.teardown(() => workspace.remove());
const service = await startService(workspace.env);
t.teardown(() => service.kill());

t.test('an attacker stops nobody but itself', async (t) => {
  await service.call('bystander');
  for (const [id, { codes }] of Object.entries(ATTACKS)) {
    const { attack, slowest } = await underWatch(service, () => service.call('attacker', { attack: id }));
    t.ok(codes.includes(attack.body.data?.code), `${id}: ends with ${attack.body.data?.code} of ${codes.join(', ')}`);
    t.same(attack.body.metadata?.logs?.[0], { level: 'log', message: 'about to attack' }, `${id}: keeps its logs`);
    t.ok(slowest < SERVED_WITHIN_MS, `${id}: everyone else is answered, the slowest in ${slowest.toFixed(0)} ms`);
    const began = performance.now();
    const honest = await afterBackOff(() => service.call('attacker', { honest: true }));
    t.same([honest.status, honest.body.data], [200, 'honest'], `${id}: the same plugin serves an honest call`);
    const took = performance.now() - began;
    t.ok(took < SERVED_WITHIN_MS, `${id}: it took ${took.toFixed(0)} ms`);
  }
});

t.test('a server that is killed in the middle of an attack leaves no child spinning', async (t) => {
  const attack = service.call('patient', { attack: 'endless-loop' }).catch(() => 'connection lost');
  await running(service, 1);
  const children = await descendantsOf(service.pid);
  t.ok(children.length > 0, 'there are children to look for');
  await service.kill();
  t.equal(await attack, 'connection lost');
  t.same(await survivors(children, 5000), [], 'they went with the server');
});

/**
 * Repeats a call while its plugin is backed off. On a slow machine, attacks may kill their process, and three deaths
 * cause a short back-off.
 */
async function afterBackOff(call: () => ReturnType<RunningService['call']>): ReturnType<RunningService['call']> {
  const began = performance.now();
  for (;;) {
    const answer = await call();
    const isBackedOff = answer.status === 503 && /is backed off/.test(answer.body.error);
    if (!isBackedOff || performance.now() - began > SERVED_WITHIN_MS) return answer;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Waits until this many plugin calls run. */
async function running(service: RunningService, count: number): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const { body } = await service.request('GET', '/api/v1/ready');
    if (body.components.plugins.running === count) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`there were never ${count} calls running`);
}

/** Runs the attack, and meanwhile calls health and another plugin all the time. */
async function underWatch<T>(service: RunningService, run: () => Promise<T>): Promise<{ attack: T; slowest: number }> {
  let slowest = 0;
  let over = false;
  const watch = async (ask: () => Promise<{ status: number }>): Promise<void> => {
    while (!over) {
      const began = performance.now();
      const { status } = await ask();
      if (status !== 200) throw new Error(`a bystander was answered with ${status}`);
      slowest = Math.max(slowest, performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const watches = [watch(() => service.request('GET', '/api/v1/health')), watch(() => service.call('bystander'))];
  const attack = await run();
  over = true;
  await Promise.all(watches);
  return { attack, slowest };
}
