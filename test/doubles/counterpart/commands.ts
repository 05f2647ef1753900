/** A command on its way to a counterpart's process, and the answer to it. */
export interface Asked<C> {
  id: number;
  command: C;
}

export type Told = { id: number; result: unknown } | { id: number; error: string };

/** The process's side. Performs commands until the parent process has ended. */
export function answerCommands<C>(perform: (command: C) => unknown): void {
  process.on('message', (message) => {
    const { id, command } = message as Asked<C>;
    const tell = (told: Told) => process.send?.(told);
    Promise.try(perform, command).then(
      (result) => tell({ id, result: result ?? null }),
      (error: unknown) => tell({ id, error: String(error) }),
    );
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.('ready');
}
