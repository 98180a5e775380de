//! Packs of objects and their indices (`gitformat-pack`).

use std::cell::OnceCell;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::bufread::ZlibDecoder;

use super::objects::{Kind, LARGEST_OBJECT, Object};
use super::{GitError, ObjectId, delta};

/// Bytes of an index that is read; one of a million objects has 30 million.
const LARGEST_INDEX: u64 = 512 << 20;

/// Differences that one object may be made by; git itself writes at most 4,095.
const MOST_DELTAS: usize = 4_096;

/// What all numbers of objects by the first byte of their names take.
const FANOUT: usize = 256 * 4;

/// One pack.
#[derive(Debug)]
pub(super) struct Pack {
    index_path: PathBuf,
    index: OnceCell<Index>,
}

/// Where each object of a pack is.
#[derive(Debug)]
struct Index {
    bytes: Vec<u8>,
    count: usize,
    is_version_1: bool,
}

/// What stands at a place of a pack.
enum Entry {
    Whole(Kind, Vec<u8>),
    /// A difference from the object at a place.
    From(u64, Vec<u8>),
    /// A difference from an object by its name.
    FromNamed(ObjectId, Vec<u8>),
}

impl Pack {
    /// The pack whose index stands at a path.
    pub(super) fn with_index(index_path: PathBuf) -> Pack {
        Pack {
            index_path,
            index: OnceCell::new(),
        }
    }

    fn index(&self) -> Result<&Index, GitError> {
        if let Some(index) = self.index.get() {
            return Ok(index);
        }
        let index = Index::read(&self.index_path)?;
        Ok(self.index.get_or_init(|| index))
    }

    /// The objects whose names begin with hexadecimal digits.
    pub(super) fn with_prefix(&self, prefix: &str) -> Result<Vec<ObjectId>, GitError> {
        let index = self.index()?;
        let from = index.lower_bound(|name| hex(name).as_str() < prefix);
        let names = (from..index.count).map_while(|at| index.name(at));
        let names = names.take_while(|name| hex(name).starts_with(prefix));
        Ok(names
            .filter_map(|name| Some(ObjectId(name.try_into().ok()?)))
            .collect())
    }

    /// An object of this pack. `other` reads those that differences name.
    pub(super) fn read(
        &self,
        id: &ObjectId,
        other: &dyn Fn(&ObjectId) -> Result<Object, GitError>,
    ) -> Result<Option<Object>, GitError> {
        let Some(mut offset) = self.index()?.find(id)? else {
            return Ok(None);
        };
        let path = self.index_path.with_extension("pack");
        let file = File::open(&path).map_err(|error| self.error(&error.to_string()))?;
        let mut file = BufReader::new(file);
        let mut deltas: Vec<Vec<u8>> = Vec::new();
        let mut object = loop {
            match self.entry(&mut file, offset)? {
                Entry::Whole(kind, bytes) => break Object { kind, bytes },
                Entry::From(below, bytes) => {
                    deltas.push(bytes);
                    offset = below;
                }
                Entry::FromNamed(name, bytes) => {
                    deltas.push(bytes);
                    match self.index()?.find(&name)? {
                        Some(below) => offset = below,
                        None => break other(&name)?,
                    }
                }
            }
            let held: usize = deltas.iter().map(Vec::len).sum();
            if deltas.len() > MOST_DELTAS || held as u64 > LARGEST_OBJECT {
                return Err(self.error(&format!("too many differences make object {id}")));
            }
        };
        for bytes in deltas.iter().rev() {
            let made = delta::apply(&object.bytes, bytes, LARGEST_OBJECT);
            object.bytes = made.map_err(|error| self.error(&error.message))?;
        }
        Ok(Some(object))
    }

    fn entry(&self, file: &mut BufReader<File>, offset: u64) -> Result<Entry, GitError> {
        let failed = |error: std::io::Error| self.error(&error.to_string());
        file.seek(SeekFrom::Start(offset)).map_err(failed)?;
        let mut byte = || -> Result<u8, GitError> {
            let mut one = [0];
            file.read_exact(&mut one).map_err(failed)?;
            Ok(one[0])
        };
        let first = byte()?;
        let mut size = u64::from(first & 0x0f);
        let mut shift = 4;
        let mut last = first;
        while last & 0x80 != 0 {
            last = byte()?;
            if shift > 56 {
                return Err(self.error("a size is broken"));
            }
            size |= u64::from(last & 0x7f) << shift;
            shift += 7;
        }
        if size > LARGEST_OBJECT {
            return Err(self.error(&format!(
                "an object has {size} bytes, more than the {LARGEST_OBJECT} that are read of one"
            )));
        }
        let kind = match (first >> 4) & 0x07 {
            1 => Kind::Commit,
            2 => Kind::Tree,
            3 => Kind::Blob,
            4 => Kind::Tag,
            6 => {
                let mut last = byte()?;
                let mut back = u64::from(last & 0x7f);
                while last & 0x80 != 0 {
                    last = byte()?;
                    back = (back + 1)
                        .checked_shl(7)
                        .filter(|back| *back < 1 << 56)
                        .ok_or_else(|| self.error("an offset is broken"))?
                        | u64::from(last & 0x7f);
                }
                let below = offset.checked_sub(back).filter(|_| back > 0);
                let below = below.ok_or_else(|| self.error("an offset is broken"))?;
                return Ok(Entry::From(below, self.inflated(file, size)?));
            }
            7 => {
                let mut name = [0; 20];
                file.read_exact(&mut name).map_err(failed)?;
                let bytes = self.inflated(file, size)?;
                return Ok(Entry::FromNamed(ObjectId(name), bytes));
            }
            _ => return Err(self.error("an entry of no known kind")),
        };
        Ok(Entry::Whole(kind, self.inflated(file, size)?))
    }

    fn inflated(&self, file: &mut BufReader<File>, size: u64) -> Result<Vec<u8>, GitError> {
        let mut bytes = Vec::new();
        // One byte more tells a stream that is too long.
        let read = ZlibDecoder::new(file)
            .take(size + 1)
            .read_to_end(&mut bytes);
        read.map_err(|error| self.error(&error.to_string()))?;
        if bytes.len() as u64 != size {
            return Err(self.error("an object has another size than it says"));
        }
        Ok(bytes)
    }

    fn error(&self, why: &str) -> GitError {
        let path = self.index_path.with_extension("pack");
        GitError::new(format!("{}: {why}", path.display()))
    }
}

impl Index {
    fn read(at: &Path) -> Result<Index, GitError> {
        let error = |why: &str| GitError::new(format!("{}: {why}", at.display()));
        let file = File::open(at).map_err(|failed| error(&failed.to_string()))?;
        let mut bytes = Vec::new();
        let read = file.take(LARGEST_INDEX + 1).read_to_end(&mut bytes);
        read.map_err(|failed| error(&failed.to_string()))?;
        if bytes.len() as u64 > LARGEST_INDEX {
            return Err(error("the index is too large"));
        }
        let is_version_1 = !bytes.starts_with(b"\xfftOc");
        if !is_version_1 && bytes.get(4..8) != Some(&[0, 0, 0, 2]) {
            return Err(error("the index has a version that is not read"));
        }
        let mut index = Index {
            bytes,
            count: 0,
            is_version_1,
        };
        let last = index.head() - 4;
        index.count = index
            .word(last)
            .ok_or_else(|| error("the index is broken"))? as usize;
        let entry = if is_version_1 { 24 } else { 28 };
        let least = index.count.checked_mul(entry);
        match least.and_then(|least| least.checked_add(index.head())) {
            Some(least) if least <= index.bytes.len() => Ok(index),
            Some(_) | None => Err(error("the index is broken")),
        }
    }

    /// Where the entries begin.
    fn head(&self) -> usize {
        match self.is_version_1 {
            true => FANOUT,
            false => 8 + FANOUT,
        }
    }

    fn word(&self, at: usize) -> Option<u32> {
        let bytes = self.bytes.get(at..at.checked_add(4)?)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?))
    }

    fn name(&self, at: usize) -> Option<&[u8]> {
        let start = match self.is_version_1 {
            true => self.head() + 24 * at + 4,
            false => self.head() + 20 * at,
        };
        self.bytes.get(start..start + 20)
    }

    /// The first entry whose name is not `below`.
    fn lower_bound(&self, below: impl Fn(&[u8]) -> bool) -> usize {
        let (mut from, mut to) = (0, self.count);
        while from < to {
            let middle = from.midpoint(to);
            match self.name(middle) {
                Some(name) if below(name) => from = middle + 1,
                Some(_) | None => to = middle,
            }
        }
        from
    }

    fn find(&self, id: &ObjectId) -> Result<Option<u64>, GitError> {
        let at = self.lower_bound(|name| name < &id.0[..]);
        if at >= self.count || self.name(at) != Some(&id.0[..]) {
            return Ok(None);
        }
        let broken = || GitError::new("the index of a pack is broken");
        if self.is_version_1 {
            let offset = self.word(self.head() + 24 * at).ok_or_else(broken)?;
            return Ok(Some(u64::from(offset)));
        }
        let offsets = self.head() + 24 * self.count;
        let offset = self.word(offsets + 4 * at).ok_or_else(broken)?;
        if offset & 0x8000_0000 == 0 {
            return Ok(Some(u64::from(offset)));
        }
        let large = offsets + 4 * self.count + 8 * (offset & 0x7fff_ffff) as usize;
        let (high, low) = (self.word(large), self.word(large + 4));
        let (high, low) = (high.ok_or_else(broken)?, low.ok_or_else(broken)?);
        Ok(Some((u64::from(high) << 32) | u64::from(low)))
    }
}

/// A name in hexadecimal digits.
fn hex(name: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(2 * name.len());
    for byte in name {
        let _ = write!(out, "{byte:02x}");
    }
    out
}
