import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A folder of plugins that is removed at the end of a test. */
export class PluginFolder {
  readonly path = realpathSync(mkdtempSync(join(tmpdir(), 'isolayer-plugins-')));

  constructor(files: Record<string, string> = {}) {
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }

  write(name: string, text: string): void {
    const path = join(this.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  remove(name = '.'): void {
    rmSync(join(this.path, name), { recursive: true, force: true });
  }
}
