type Log = (...values: unknown[]) => void;
type Stream = { write(text: string): unknown };

/** Node's module `console`: the global console, and the class Console for consoles that write elsewhere. */
export function createConsoleModule(console: object, tools: () => Record<string, unknown>): object {
  const text = (values: unknown[]) => (tools()['format'] as (...values: unknown[]) => string)(...values);

  class Console {
    declare readonly log: Log;

    constructor(out: Stream | { stdout: Stream; stderr?: Stream }, given?: Stream) {
      const isStream = 'write' in out;
      const stdout = isStream ? out : out.stdout;
      const stderr = (isStream ? given : out.stderr) ?? stdout;
      const to =
        (stream: Stream) =>
        (...values: unknown[]) =>
          void stream.write(`${text(values)}\n`);
      const nothing = () => {};
      for (const name of Object.keys(console)) Object.assign(this, { [name]: nothing });
      for (const name of ['log', 'info', 'debug', 'dir', 'dirxml', 'table', 'group'])
        Object.assign(this, { [name]: to(stdout) });
      for (const name of ['warn', 'error', 'trace']) Object.assign(this, { [name]: to(stderr) });
    }
  }

  return { ...console, Console };
}
