/** Who asks for a turn. */
export interface FetchClaimant {
  pluginId: string;
  /** The plugin call, by identity. */
  call: object;
}

interface Waiting extends FetchClaimant {
  admit(): void;
}

/**
 * Limits how many exchanges of one plugin, and of one of its calls, run at once. The others wait in the order of
 * asking. A call that is at its limit holds up only itself.
 */
export class FetchQueue {
  private readonly limits: { perCall: number; perPlugin: number };
  private readonly plugins = new Map<string, { running: number; waiting: Waiting[] }>();
  private readonly calls = new Map<object, number>();

  constructor(limits: { perCall: number; perPlugin: number }) {
    this.limits = limits;
  }

  /**
   * Waits for a turn. Resolves with the function that gives the turn back, to be called once.
   * @throws the signal's reason if it is aborted before
   */
  async enter(claimant: FetchClaimant, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const { pluginId, call } = claimant;
    const plugin = this.plugins.get(pluginId) ?? { running: 0, waiting: [] };
    this.plugins.set(pluginId, plugin);
    if (!this.hasRoom(plugin.running, call)) {
      await new Promise<void>((resolve, reject) => {
        const waiting: Waiting = {
          ...claimant,
          admit: () => {
            signal.removeEventListener('abort', leave);
            resolve();
          },
        };
        const leave = () => {
          plugin.waiting.splice(plugin.waiting.indexOf(waiting), 1);
          reject(signal.reason as Error);
        };
        signal.addEventListener('abort', leave, { once: true });
        plugin.waiting.push(waiting);
      });
    } else this.count(pluginId, call, 1);
    return () => this.leave(pluginId, call);
  }

  private hasRoom(running: number, call: object): boolean {
    return running < this.limits.perPlugin && (this.calls.get(call) ?? 0) < this.limits.perCall;
  }

  private count(pluginId: string, call: object, change: 1 | -1): void {
    const plugin = this.plugins.get(pluginId);
    if (plugin !== undefined) plugin.running += change;
    const ofCall = (this.calls.get(call) ?? 0) + change;
    if (ofCall === 0) this.calls.delete(call);
    else this.calls.set(call, ofCall);
  }

  private leave(pluginId: string, call: object): void {
    this.count(pluginId, call, -1);
    const plugin = this.plugins.get(pluginId);
    if (plugin === undefined) return;
    const next = plugin.waiting.findIndex((waiting) => this.hasRoom(plugin.running, waiting.call));
    const [waiting] = next < 0 ? [] : plugin.waiting.splice(next, 1);
    if (waiting !== undefined) {
      // Counted before it goes on, so that no other exchange takes its place in between.
      this.count(pluginId, waiting.call, 1);
      waiting.admit();
    } else if (plugin.running === 0 && plugin.waiting.length === 0) this.plugins.delete(pluginId);
  }
}
