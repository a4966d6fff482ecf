// Whether the window is as narrow as a phone. Style sheets say the same with `max-width: 699px`.
import { useEffect, useRef, useState } from 'react';

export function useIsPhone(): boolean {
  const query = useRef(matchMedia('(max-width: 699px)'));
  const [isPhone, setPhone] = useState(query.current.matches);
  useEffect(() => {
    const media = query.current;
    const changed = (): void => setPhone(media.matches);
    media.addEventListener('change', changed);
    return () => media.removeEventListener('change', changed);
  }, []);
  return isPhone;
}
