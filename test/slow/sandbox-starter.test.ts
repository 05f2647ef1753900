/**
 * Threat: the process that starts the sandboxes becomes a channel between them, outlives the service, or its end stops
 * all plugins. Uses the shipped service, and reads the process tree from the system.
 */
import { readdir, readlink } from 'node:fs/promises';
import t from 'tap';
import { eventually, startPluginHost } from '../support/plugin-host.ts';
import { descendantsOf, survivors, type WatchedProcess } from '../support/processes.ts';
import { startService } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

const GONE_WITHIN_MS = 5000;
/** Enough for four threads, which start two each before one has a starter, and for one that is late. */
const IDS = Array.from({ length: 20 }, (_, index) => `plugin-${index}`);

if (process.platform !== 'linux') t.bailout('only Linux has a starter');

const isStarter = ({ command }: WatchedProcess) => command.includes('isolayer-starter');
/** The process that runs node, at the end of the chain of wrappers that confine it. */
const isSandbox = ({ command }: WatchedProcess) => command.includes('isolayer-sandbox') && /^\S*\/node /.test(command);

/** The starters below a process that have sandboxes, with these sandboxes. */
async function busyStarters(pid: number): Promise<{ starter: number; sandboxes: WatchedProcess[] }[]> {
  const starters = (await descendantsOf(pid)).filter(isStarter);
  const all = await Promise.all(
    starters.map(async (one) => ({ starter: one.pid, sandboxes: (await descendantsOf(one.pid)).filter(isSandbox) })),
  );
  return all.filter(({ sandboxes }) => sandboxes.length > 0);
}

/** Calls plugins until a starter has a sandbox. Each plugin needs one. Returns the called ids. */
async function callUntilStarted(pid: number, call: (id: string) => Promise<unknown>): Promise<string[]> {
  const called: string[] = [];
  for (const id of IDS) {
    await call(id);
    called.push(id);
    if ((await busyStarters(pid)).length > 0) return called;
  }
  throw new Error('no starter has a sandbox');
}

async function socketsOf(pid: number): Promise<string[]> {
  const fds = await readdir(`/proc/${pid}/fd`);
  const links = await Promise.all(fds.map((fd) => readlink(`/proc/${pid}/fd/${fd}`).catch(() => '')));
  return links.filter((link) => link.startsWith('socket:'));
}

t.test('a service with plugins', async (t) => {
  const workspace = await createWorkspace({
    plugins: IDS.map((id) => ({ id, path: `${id}.ts` })),
    pluginFiles: Object.fromEntries(IDS.map((id) => [`${id}.ts`, `export const handler = () => '${id}';`])),
    env: { PLUGIN_MAX_PROCESSES: String(2 * IDS.length) },
  });
  t.teardown(() => workspace.remove());
  const service = await startService(workspace.env);
  t.teardown(() => service.kill());
  await callUntilStarted(service.pid, async (id) =>
    t.match(await service.call(id), { status: 200, body: { data: id } }),
  );
  const all = await descendantsOf(service.pid);

  await t.test('no sandbox shares a socket with a starter, another sandbox or the service', async (t) => {
    const owners = [...all.filter((one) => isSandbox(one) || isStarter(one)).map(({ pid }) => pid), service.pid];
    const sockets = await Promise.all(owners.map(async (pid) => [...new Set(await socketsOf(pid))]));
    const seen = sockets.flat();
    t.ok(seen.length > owners.length);
    t.equal(new Set(seen).size, seen.length);
  });

  await t.test('when it is killed nothing is left', async (t) => {
    await service.kill();
    t.same(await survivors(all, GONE_WITHIN_MS), []);
  });
});

t.test('a starter that is killed costs the calls of its children, and no more', async (t) => {
  const sends = `export const handler = async ({ api }) => {
    await api.useRelayer('known').sendTransaction({});
    return 'sent';
  };`;
  const { call, close, services } = await startPluginHost({
    files: Object.fromEntries(IDS.map((id) => [`${id}.ts`, sends])),
    maxProcesses: 2 * IDS.length,
  });
  t.teardown(close);
  const ids = await callUntilStarted(process.pid, async (id) => t.match(await call(id), { status: 200 }));
  const [busy, ...others] = await busyStarters(process.pid);
  if (busy === undefined) throw new Error('no starter has a sandbox');
  t.same(others, [], 'the host has one thread');
  const lost = busy.sandboxes;
  const all = (await descendantsOf(process.pid)).filter(isSandbox);
  t.ok(lost.length > 0 && lost.length < all.length, `${lost.length} of ${all.length} were started by it`);

  const held = Promise.withResolvers<void>();
  let asked = 0;
  services.beforeSend = () => {
    asked += 1;
    return held.promise;
  };
  const calls = ids.map((id) => call(id));
  await eventually(
    () => asked,
    (count) => count === ids.length,
  );
  process.kill(busy.starter, 'SIGKILL');
  t.same(await survivors(lost, GONE_WITHIN_MS), []);
  held.resolve();
  const answers = await Promise.all(calls);
  const ended = answers.filter(({ status }) => status !== 200);
  for (const answer of ended) t.match(answer, { status: 503, body: { data: { code: 'SANDBOX_LOST' } } });
  // One of the starter's children may have been the spare.
  t.ok(ended.length === lost.length || ended.length === lost.length - 1, `${ended.length} calls were lost`);
  services.beforeSend = () => Promise.resolve();
  for (const id of ids) t.match(await call(id), { status: 200, body: { data: 'sent' } });
});
