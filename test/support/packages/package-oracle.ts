import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { performBuild } from '../../../sandbox/host/compiler/guest-build.ts';
import type { GuestWorld } from '../../../sandbox/test/support/guest-isolate.ts';
import { LIMITS, SHOWN } from '../../../sandbox/test/support/guest-oracle.ts';
import { ROOT, SANDBOX_DIR } from '../../../sandbox/test/support/sandbox.ts';
import type { PackageCase } from './package-case.ts';

/** The result of trying a package in a plugin. */
export interface PackageFinding {
  name: string;
  version: string;
  /** The size of the whole bundle in bytes; undefined if it does not bundle. */
  bytes: number | undefined;
  /** Whether it loads and returns a result, right or wrong. */
  runs: boolean;
  /** Whether its result is the same as in Node. */
  isEqual: boolean;
  /** The different result or error, and Node's result. */
  trouble: string;
}

/** A plugins folder under a folder with all packages, as operators have them. */
export class PackageFolder {
  readonly #dir = realpathSync(mkdtempSync(join(tmpdir(), 'isolayer-packages-')));

  constructor(files: Record<string, string> = {}) {
    mkdirSync(join(this.#dir, 'plugins'));
    symlinkSync(join(ROOT, 'node_modules'), join(this.#dir, 'node_modules'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(this.plugins, name), text);
  }

  get plugins(): string {
    return join(this.#dir, 'plugins');
  }

  /** Runs the case in Node and in an isolate. */
  async finding(world: GuestWorld, { name, imports, body }: PackageCase): Promise<PackageFinding> {
    const file = join(this.plugins, `${name.replaceAll(/[@/.]/g, '-')}.mjs`);
    writeFileSync(
      file,
      `${imports}\n${SHOWN}\nexport const run = () => outcome(async () => { ${body} });\nexport const handler = (context) => run();\n`,
    );
    const found = { name, version: versionOf(name), bytes: undefined, runs: false, isEqual: false };
    const node = await inNode(file);
    const job = {
      kind: 'plugin',
      root: this.plugins,
      modulesDir: join(SANDBOX_DIR, 'guest', 'modules'),
      file,
    } as const;
    const built = await performBuild(job, () => {});
    if (built.kind !== 'built') return { ...found, trouble: `does not bundle: ${JSON.stringify(built)}` };
    const bytes = built.code.length;
    const guest = inGuest(world, Buffer.from(built.code).toString());
    const runs = !/^(?:threw|does not) /.test(guest);
    return {
      ...found,
      bytes,
      runs,
      isEqual: guest === node,
      trouble: guest === node ? '' : `${guest}\n  in Node: ${node}`,
    };
  }

  remove(): void {
    rmSync(this.#dir, { recursive: true, force: true });
  }
}

function inGuest(world: GuestWorld, script: string): string {
  try {
    const { outcome } = world.call(script, { limits: LIMITS });
    return outcome?.kind === 'returned'
      ? (JSON.parse(outcome.json) as string)
      : `does not return: ${JSON.stringify(outcome)}`;
  } catch (error) {
    return `does not load: ${inspect(error, { depth: 4 })}`;
  }
}

async function inNode(file: string): Promise<string> {
  try {
    const { run } = (await import(pathToFileURL(file).href)) as { run: () => Promise<string> };
    return await run();
  } catch (error) {
    return `does not load: ${String(error)}`;
  }
}

function versionOf(name: string): string {
  const text = readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
