import { conform } from './web-idl.ts';

const LANGUAGES = ['en-US'] as const;

/** The global `navigator` and its class (HTML 8.10). It tells a plugin nothing about the machine. */
export function createNavigator() {
  const permit = {};

  class Navigator {
    constructor(given?: unknown) {
      if (given !== permit) throw new TypeError('Illegal constructor');
    }

    get userAgent(): string {
      return 'Isolayer';
    }

    get hardwareConcurrency(): number {
      return 1;
    }

    get language(): string {
      return LANGUAGES[0];
    }

    get languages(): readonly string[] {
      return [...LANGUAGES];
    }

    get platform(): string {
      return '';
    }

    get onLine(): boolean {
      return true;
    }
  }

  conform(Navigator);
  return { Navigator, navigator: new Navigator(permit) };
}
