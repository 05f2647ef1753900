/** Threat: a child that keeps something of the server's, or that runs with fewer restrictions than reported. */
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { access, readFile, readlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import t from 'tap';
import { probeLauncher } from '../../../driver/confinement.ts';
import { launch, nodeArguments, nodePid, start } from '../../../driver/launch.ts';
import { nativeAddon } from '../../../host/compiler/child-program.ts';
import { ROOT, runs, sandboxProgram } from '../../support/sandbox.ts';

t.test('no flag of the permission model is missing, none that voids it is there', async (t) => {
  const line = nodeArguments();
  for (const flag of ['--permission', '--no-experimental-sqlite', '--no-experimental-ffi', '--disable-sigusr1']) {
    t.ok(line.includes(flag), flag);
  }
  const allowed = line.filter((flag) => flag.startsWith('--allow-'));
  t.same(allowed, ['--allow-addons'], 'there is no file that it may read, and nothing more is allowed');
});

t.test('elsewhere than on Linux there is only what Node itself does', async (t) => {
  const { prefix, confinement } = await probeLauncher('darwin', '');
  t.same(prefix, []);
  t.match(confinement, { permission: true, pdeathsig: false, namespaces: false });
  t.same(confinement.missing, {
    pdeathsig: 'only Linux has it',
    no_new_privs: 'only Linux has it',
    core_dumps_off: 'only Linux has it',
    few_files: 'only Linux has it',
    oom_first: 'only Linux has it',
    namespaces: 'only Linux has it',
    files_hidden: 'only Linux has it',
    syscalls_filtered: 'only Linux has it',
  });
});

t.test('a child has an empty environment, and what is reported of it is true', async (t) => {
  const launcher = await probeLauncher(process.platform, nativeAddon());
  const child = launch(launcher, await sandboxProgram());
  t.teardown(() => child.kill('SIGKILL'));
  await once(child, 'spawn');
  const started = child.pid ?? 0;
  let pid = nodePid(launcher, started);
  for (let left = 500; left > 0 && !(await commandOf(pid)).startsWith(process.execPath); left -= 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    pid = nodePid(launcher, started);
  }
  // bwrap says where it put the process.
  t.match(await readFile(`/proc/${pid}/environ`, 'utf8'), /^(PWD=\/\0)?$/);
  if (launcher.confinement.no_new_privs) t.match(await readFile(`/proc/${pid}/status`, 'utf8'), /NoNewPrivs:\t1/);
  if (launcher.confinement.core_dumps_off) t.match(await readFile(`/proc/${pid}/limits`, 'utf8'), /core file size +0/);
  if (launcher.confinement.few_files) t.match(await readFile(`/proc/${pid}/limits`, 'utf8'), /open files +64 +64/);
  if (launcher.confinement.oom_first) t.equal(await readFile(`/proc/${pid}/oom_score_adj`, 'utf8'), '1000\n');
  if (launcher.confinement.namespaces) {
    t.not(pid, started);
    for (const kind of ['user', 'pid', 'net']) {
      t.not(await readlink(`/proc/${pid}/ns/${kind}`), await readlink(`/proc/self/ns/${kind}`), `a ${kind} of its own`);
    }
  }
  if (launcher.confinement.syscalls_filtered) t.match(await readFile(`/proc/${pid}/status`, 'utf8'), /Seccomp:\t2/);
  if (launcher.prefix.some((part) => part.endsWith('/bwrap'))) {
    for (const file of ['/etc/passwd', '/proc/self', path.join(ROOT, 'package.json'), process.env['HOME'] ?? '/root']) {
      await t.rejects(access(`/proc/${pid}/root${file}`), { code: 'ENOENT' }, file);
    }
  }
  const { missing, ...granted } = launcher.confinement;
  const lacking = Object.keys(granted).filter((name) => !granted[name as keyof typeof granted]);
  t.same(Object.keys(missing).toSorted(), lacking.toSorted(), 'what is missing has its reason, and nothing else');
  for (const why of Object.values(missing)) t.notMatch(why, process.execPath);
  child.kill('SIGKILL');
  await once(child, 'exit');
  t.equal(launcher.confinement.namespaces ? nodePid(launcher, started) : undefined, undefined);
});

t.test('where the system allows, a child ends with whoever started it', async (t) => {
  const launcher = await probeLauncher(process.platform, nativeAddon());
  if (!launcher.confinement.pdeathsig) {
    t.notOk(launcher.confinement.pdeathsig, 'this system has no such signal; the host sweeps instead');
    return;
  }
  // It speaks once it runs: a parent that dies before is noticed by the closed channel instead.
  const spin = [process.execPath, '-e', "require('fs').writeSync(3, 'x'); for (;;);"];
  const code = `Promise.all(${JSON.stringify(['confinement', 'launch'].map((name) => import.meta.resolve(`../../../driver/${name}.ts`)))}.map((file) => import(file))).then(async ([{ probeLauncher }, { start }]) => {
    const launcher = await probeLauncher(process.platform, ${JSON.stringify(nativeAddon())});
    const child = start([...launcher.prefix, ...${JSON.stringify(spin)}], { filterFd: launcher.filterFd });
    child.stdio[3].once('data', () => process.stderr.write(child.pid + '\\n'));
    setInterval(() => {}, 1000);
  })`;
  const parent = start([process.execPath, '-e', code]);
  const [said] = (await once(parent.stderr ?? parent, 'data')) as [Buffer];
  const started = Number(said.toString());
  const spinning = nodePid(launcher, started) ?? 0;
  t.ok(runs(started) && runs(spinning));
  parent.kill('SIGKILL');
  for (let left = 500; left > 0 && ((await alive(started)) || (await alive(spinning))); left -= 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  t.notOk(await alive(started));
  t.notOk(await alive(spinning));
});

t.test('a child that nobody speaks to any more ends itself', async (t) => {
  const child = launch(await probeLauncher(process.platform, nativeAddon()), await sandboxProgram());
  child.stdio[3]?.destroy();
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  t.not(code, 0);
  t.ok(code !== null || ['SIGABRT', 'SIGSEGV', 'SIGILL', 'SIGTRAP'].includes(signal ?? ''), `${code} ${signal}`);
});

t.test(
  'what a child is given to run does not run when it is cut short, and its end is told on standard error',
  async (t) => {
    const program = "(function (load) { load('node:fs').writeSync(3, 'it ran'); })";
    const outcomes = [program, program.slice(0, -2), ''].map(async (text) => {
      const child = start([process.execPath, ...nodeArguments()], { input: text });
      const said = { channel: '', stderr: '' };
      child.stdio[3]?.on('data', (chunk: Buffer) => {
        said.channel += chunk.toString();
      });
      child.stderr?.on('data', (chunk: Buffer) => {
        said.stderr += chunk.toString();
      });
      const [code] = (await once(child, 'close')) as [number];
      return { code, ...said };
    });
    const [whole, cut, none] = await Promise.all(outcomes);
    t.same(whole, { code: 0, channel: 'it ran', stderr: '' });
    t.match(cut, { code: 1, channel: '', stderr: /SyntaxError/ });
    t.match(none, { code: 1, channel: '', stderr: /TypeError/ });
  },
);

async function commandOf(pid: number | undefined): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
}

/** A process that nobody has collected yet is dead as well. */
async function alive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') Z');
  return !stat.slice(stat.lastIndexOf(')')).startsWith(') Z');
}

/** Threat: a process that comes without what it was promised, or takes whoever starts it along. */
t.test('a child that ends without taking its program does no harm to who started it', async (t) => {
  const child = start(['/bin/true'], { input: ' '.repeat(4_000_000) });
  const [code] = (await once(child, 'close')) as [number];
  t.equal(code, 0);
});

t.test('each is given the filter from its beginning, and the journal to write to', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'isolayer-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const [filter, journal] = [path.join(folder, 'filter'), path.join(folder, 'journal')];
  writeFileSync(filter, 'the filter');
  const filterFd = openSync(filter, 'r');
  const journalFd = openSync(journal, 'w+');
  for (const round of [1, 2]) {
    const child = start(['/bin/sh', '-c', `cat <&5 >&4; echo ${round} >&4`], { filterFd, journalFd });
    t.same(await once(child, 'exit'), [0, null]);
  }
  t.equal(readFileSync(journal, 'utf8'), 'the filter1\nthe filter2\n');
  closeSync(filterFd);
  closeSync(journalFd);
});

t.test('it has nothing of the environment, and is no member of a session that it could disturb', async (t) => {
  const child = start(['/bin/sh', '-c', 'pwd >&3; export >&3; echo $$ >&3; cut -d " " -f 6 /proc/$$/stat >&3']);
  let said = '';
  child.stdio[3]?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  await once(child, 'close');
  t.equal(said, `/\nexport PWD='/'\n${child.pid}\n${child.pid}\n`);
});
