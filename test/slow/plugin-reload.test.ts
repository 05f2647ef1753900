/** Versions change under load. No call fails because of it, mixes two versions, or goes back to an older one. */
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import t from 'tap';
import { composeService } from '../support/composed-service.ts';
import type { StartedService } from '../support/service.ts';
import { createWorkspace } from '../support/workspace.ts';

const IN_FLIGHT = 6;
/** The pause between two calls of one caller. */
const BREATH_MS = 50;
const PATIENCE_MS = 30_000;
const UNLIMITED = { RATE_LIMIT_REQUESTS_PER_SECOND: '100000', RATE_LIMIT_BURST_SIZE: '100000' };

/** The files of a version. Each contains its number, and the handler returns them all. */
const sourcesOf = (version: number) => ({
  'index.ts': `import { a } from './a.ts';\nimport { b } from './lib/b.ts';
export const handler = async ({ params }) => {
  if (params.waits) await new Promise((resolve) => setTimeout(resolve, 20));
  return [${version}, a, b];
};`,
  'a.ts': `export const a = ${version};`,
  'lib/b.ts': `export const b = ${version};`,
});

/** Keeps calls in flight, and records faults in their answers. */
class Load {
  readonly faults: string[] = [];
  answers = 0;
  newest = 0;
  private readonly service: StartedService;
  private readonly plugin: string;
  private readonly callers: Promise<void>[];
  private isOver = false;

  constructor(service: StartedService, plugin: string) {
    this.service = service;
    this.plugin = plugin;
    this.callers = Array.from({ length: IN_FLIGHT }, (_, n) => this.keepCalling({ waits: n % 2 === 0 }));
  }

  async end(): Promise<void> {
    this.isOver = true;
    await Promise.all(this.callers);
  }

  /** Resolves when an answer came from this version. */
  async reached(version: number): Promise<boolean> {
    const end = performance.now() + PATIENCE_MS;
    while (this.newest < version && performance.now() < end) await delay(5);
    return this.newest >= version;
  }

  private async keepCalling(params: object): Promise<void> {
    while (!this.isOver) {
      const known = this.newest;
      try {
        const { status, body } = await this.service.call(this.plugin, params);
        this.answers += 1;
        this.judge(status, body, known);
      } catch (error) {
        this.faults.push(String(error));
      }
      // A moderate load. The test is about the change of versions.
      await delay(BREATH_MS);
    }
  }

  private judge(status: number, body: { data: number[] }, known: number): void {
    const [version = -1, ...others] = status === 200 ? body.data : [];
    if (status !== 200) this.faults.push(`${status} ${JSON.stringify(body).slice(0, 300)}`);
    else if (others.some((other) => other !== version)) this.faults.push(`a mixture: ${body.data.join(' ')}`);
    else if (version < known) this.faults.push(`${version} answered a call that began after ${known} had answered`);
    this.newest = Math.max(this.newest, version);
  }
}

/** One plugin that was dropped in as a folder, and one that is declared and has two processes. */
const DROPPED = 'dropped';
const DECLARED = 'declared';
const PROCESSES: Record<string, number> = { [DROPPED]: 1, [DECLARED]: 2 };

const files = Object.keys(PROCESSES).flatMap((id) =>
  Object.entries(sourcesOf(0)).map(([name, text]) => [`${id}/${name}`, text] as const),
);
const workspace = await createWorkspace({
  plugins: [{ id: DECLARED, path: `${DECLARED}/index.ts`, limits: { processes: PROCESSES[DECLARED] } }],
  pluginFiles: Object.fromEntries(files),
  env: UNLIMITED,
});
t.teardown(() => workspace.remove());
const service = await composeService(workspace.env);
t.teardown(() => service.stop());
const folderOf = (id: string) => join(workspace.dir, 'plugins', id);
const shown = async (id: string) => (await service.request('GET', `/api/v1/plugins/${id}`)).body.data;

type Sources = ReturnType<typeof sourcesOf>;

async function writeAll(folder: string, sources: Sources): Promise<void> {
  for (const [name, text] of Object.entries(sources)) await writeFile(join(folder, name), text);
}

/** The ways in which people, editors and deployments change files. */
const WAYS: Record<string, (folder: string, sources: Sources) => Promise<void>> = {
  'written over': writeAll,
  'moved into place': async (folder, sources) => {
    for (const [name, text] of Object.entries(sources)) {
      await writeFile(join(folder, `${name}.tmp`), text);
      await rename(join(folder, `${name}.tmp`), join(folder, name));
    }
  },
  'written in two halves': async (folder, sources) => {
    const text = sources['index.ts'];
    await writeFile(join(folder, 'index.ts'), text.slice(0, text.length / 2));
    await delay(350);
    await writeAll(folder, sources);
  },
  'cut off before its handler': async (folder, sources) => {
    await writeFile(join(folder, 'index.ts'), `import { a } from './a.ts';\nconsole.log(a);\n`);
    await delay(350);
    await writeAll(folder, sources);
  },
  'emptied first': async (folder, sources) => {
    await writeFile(join(folder, 'index.ts'), '');
    await delay(20);
    await writeAll(folder, sources);
  },
  'taken away and put back': async (folder, sources) => {
    for (const name of Object.keys(sources)) await rm(join(folder, name));
    await delay(350);
    await writeAll(folder, sources);
  },
  'broken first': async (folder, sources) => {
    await writeFile(join(folder, 'index.ts'), 'export const handler = () => {{');
    await delay(350);
    await writeAll(folder, sources);
  },
  'failing to load first': async (folder, sources) => {
    await writeFile(join(folder, 'index.ts'), `export const handler = () => 0;\nthrow new Error('not today');`);
    const end = performance.now() + PATIENCE_MS;
    while (!service.output().includes('not today') && performance.now() < end) await delay(20);
    await writeAll(folder, sources);
  },
};

t.test('versions change in every way under load', async (t) => {
  const changesOf: Record<string, number> = { [DROPPED]: Object.keys(WAYS).length + 1, [DECLARED]: 3 };
  await Promise.all(
    Object.entries(changesOf).map(async ([id, changes]) => {
      const load = new Load(service, id);
      t.ok(await load.reached(0));
      const ways = Object.entries(WAYS);
      for (let version = 1; version <= changes; version += 1) {
        const [name, change] = ways[version % ways.length] ?? ['written over', writeAll];
        await change(folderOf(id), sourcesOf(version));
        // Every fifth change does not wait until its version answers.
        if (version % 5 === 0) continue;
        if (!(await load.reached(version))) t.fail(`${name}: version ${version} never answered`);
      }
      await load.reached(changes);
      await load.end();
      t.equal(load.newest, changes);
      t.strictSame(load.faults.slice(0, 5), []);
      t.ok(load.answers > changes * 5, `${load.answers} answers`);
    }),
  );
  t.match(service.output(), 'not today');
  for (const [id, processes] of Object.entries(PROCESSES)) {
    const plugin = await shown(id);
    t.match(plugin, { state: 'serving', error: null });
    t.ok(plugin.now.processes <= processes, 'old versions keep no process');
    const left = await eventually(async () => (await shown(id)).now.isolates, 2 * processes);
    t.ok(left <= 2 * processes, `${left} isolates are left: those of old versions are gone`);
  }
});

/** Waits until a figure has sunk to the wanted one. Isolates are released every ten seconds. */
async function eventually(figure: () => Promise<number>, wanted: number): Promise<number> {
  let last = await figure();
  for (let tries = 0; tries < 300 && last > wanted; tries += 1) {
    await delay(100);
    last = await figure();
  }
  return last;
}

t.test('an error of the newest version is seen where it is, since when, and until it is mended', async (t) => {
  const [last] = (await service.call(DROPPED)).body.data;
  await writeFile(join(folderOf(DROPPED), 'index.ts'), 'export const handler = () => 1;\nconst x = ;\n');
  let plugin = await shown(DROPPED);
  for (let tries = 0; plugin.error === null && tries < 400; tries += 1) {
    await delay(25);
    plugin = await shown(DROPPED);
  }
  t.match(plugin, {
    state: 'serving',
    error: { code: 'COMPILE_ERROR', file: `plugins/${DROPPED}/index.ts`, line: 2, column: 11, since: String },
  });
  t.match(service.output(), 'the old one keeps serving');
  t.strictSame((await service.call(DROPPED)).body.data, [last, last, last]);
  await writeAll(folderOf(DROPPED), sourcesOf(last + 1));
  for (let tries = 0; plugin.error !== null && tries < 400; tries += 1) {
    await delay(25);
    plugin = await shown(DROPPED);
  }
  t.equal(plugin.error, null);
});
